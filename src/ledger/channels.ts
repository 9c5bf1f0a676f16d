import { sql, type Transaction } from 'kysely'
import type { ChannelFacts } from '../core/stream.ts'
import type { Database, Db } from '../store/database.ts'
import { now, ops } from './ops.ts'

/** On how many days the service must not know a channel before it is gone. A day counts once, however many runs ask. */
export const DAYS_UNTIL_GONE = 3

/** What the service answered about channels in one run. */
interface ChannelAnswers {
  readonly serviceDay: string
  /** Channels that do not exist according to the service. */
  readonly unknown: ReadonlySet<string>
  /** Channels that gave any valid answer: they exist, even if another answer denies it. */
  readonly answered: ReadonlySet<string>
}

/** Configured channels that the service no longer knows. */
export async function readGoneChannels(db: Db): Promise<ReadonlySet<string>> {
  const goneChannels = ops(db).selectFrom('livehouse.channels').select('channelId').where('state', '=', 'gone')
  return new Set((await goneChannels.execute()).map(({ channelId }) => channelId))
}

/** The gone channels that no run has asked for on this day of the service. */
export async function readGoneChannelsToAsk(db: Db, serviceDay: string): Promise<readonly string[]> {
  const rows = await ops(db)
    .selectFrom('livehouse.channels as channel')
    .leftJoin('channel_states as known', 'known.channelId', 'channel.channelId')
    .select('channel.channelId')
    .where('state', '=', 'gone')
    .where('lastUnknownOn', 'is distinct from', serviceDay)
    .execute()
  return rows.map(({ channelId }) => channelId)
}

/**
 * Counts the days on which the service did not know a channel: on the third one without an answer since, the channel is
 * gone. An answer resets the count, and so does removal from the configuration; a channel that was not asked for keeps
 * its count. If every channel answers, nothing is written. @returns the channels whose state changed
 */
export async function recordChannelAnswers(db: Db, { unknown, answered, serviceDay }: ChannelAnswers, runId: string) {
  return await db.transaction().execute(async (trx) => {
    const answeredIds = [...answered]
    const channels = ops(trx).selectFrom('livehouse.channels')
    const retired = channels.select('channelId').where('state', '=', 'retired')
    await ops(trx)
      .deleteFrom('channel_states')
      .where((eb) => eb.or([eb('channelId', 'in', [...answeredIds, '']), eb('channelId', 'in', retired)]))
      .execute()
    const unknownIds = [...unknown].filter((channelId) => !answered.has(channelId))
    const counts = ops(trx)
      .insertInto('channel_states')
      .values(unknownIds.map((channelId) => ({ channelId, unknownDays: 1, lastUnknownOn: serviceDay, runId })))
      .onConflict((conflict) =>
        conflict
          .column('channelId')
          .doUpdateSet(({ eb }) => ({
            unknownDays: eb('channel_states.unknownDays', '+', 1),
            lastUnknownOn: serviceDay,
            runId,
          }))
          .where('channel_states.lastUnknownOn', '<', serviceDay),
      )
    if (unknownIds.length > 0) await counts.execute()
    const states = await channels
      .leftJoin('channel_states as known', 'known.channelId', 'livehouse.channels.channelId')
      .select(['livehouse.channels.channelId', 'state', 'unknownDays'])
      .where('state', '!=', 'retired')
      .execute()
    const isDue = ({ channelId, state, unknownDays }: (typeof states)[number]) =>
      state === 'active' && (unknownDays ?? 0) >= DAYS_UNTIL_GONE && unknownIds.includes(channelId)
    const dueIds = states.filter(isDue).map(({ channelId }) => channelId)
    const isTooMany = dueIds.length > states.length / 2
    return {
      gone: isTooMany ? [] : await changeState(trx, dueIds, 'active', 'gone', runId),
      back: await changeState(trx, answeredIds, 'gone', 'active', runId),
      /** Channels that are due but stay active: they are over half of all, so the service must be at fault. */
      tooMany: isTooMany ? dueIds : [],
    }
  })
}

async function changeState(
  trx: Transaction<Database>,
  channelIds: readonly string[],
  from: 'active' | 'gone',
  to: 'active' | 'gone',
  runId: string,
): Promise<readonly string[]> {
  const rows = await ops(trx)
    .updateTable('livehouse.channels')
    .set({ state: to, runId, changedAt: now })
    .where('state', '=', from)
    .where('channelId', 'in', [...channelIds, ''])
    .returning('channelId')
    .execute()
  return rows.map(({ channelId }) => channelId).toSorted()
}

/** A channel of the warehouse; `name` is null until an answer of the service names it. */
export type ListedChannel = Awaited<ReturnType<typeof readChannelList>>[number]

const channelColumns = ['channelId', 'name', 'label', 'channelGroup as group', 'isTest', 'state'] as const

/** Every channel, by id. */
export async function readChannelList(db: Db) {
  return await ops(db).selectFrom('livehouse.channels').select(channelColumns).orderBy('channelId').execute()
}

/** A channel with its numbers of rows in the warehouse. */
export interface ChannelState extends ListedChannel {
  readonly visitors: number
  readonly watchRecords: number
  readonly lastLandedAt: Date | null
}

/** Every channel of the warehouse with its numbers of rows, by id. */
export async function readChannelStates(db: Db): Promise<ReadonlyMap<string, ChannelState>> {
  // The builder does not know the tables of streams.
  const visitors = sql<number>`(select count(*)::float8 from livehouse.visitors
    where visitors.channel_id = channel.channel_id and removed_at is null)`
  const watchRecords = sql<number>`(select count(*)::float8 from livehouse.watch_records
    where watch_records.channel_id = channel.channel_id)`
  const rows = await ops(db)
    .selectFrom('livehouse.channels as channel')
    .select(channelColumns)
    .select([visitors.as('visitors'), watchRecords.as('watchRecords')])
    .select((eb) => {
      const readings = eb.selectFrom('latest_readings').whereRef('latest_readings.channelId', '=', 'channel.channelId')
      return readings.select(({ fn }) => fn.max('landedAt').as('at')).as('lastLandedAt')
    })
    .orderBy('channelId')
    .execute()
  return new Map(rows.map((row) => [row.channelId, row]))
}

type ConfiguredChannel = Pick<ListedChannel, 'channelId' | 'label' | 'group' | 'isTest'> & { until: string | null }

/**
 * Gives every configured channel a row, and marks all others as retired. Rows that are already right are not touched;
 * the comparison is plainer in SQL.
 */
export async function registerChannels(db: Db, channels: readonly ConfiguredChannel[], runId: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const rows = channels.map(({ channelId, label, group: channelGroup, isTest, until: readUntil }) => {
      return { channelId, label, channelGroup, isTest, readUntil, runId }
    })
    const upsert = ops(trx)
      .insertInto('livehouse.channels')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .column('channelId')
          .doUpdateSet((eb) => ({
            label: eb.ref('excluded.label'),
            channelGroup: eb.ref('excluded.channelGroup'),
            isTest: eb.ref('excluded.isTest'),
            readUntil: eb.ref('excluded.readUntil'),
            state: sql`case channels.state when 'retired' then 'active' else channels.state end`,
            runId,
            changedAt: now,
          }))
          .where(sql<boolean>`
            (channels.label, channels.channel_group, channels.is_test, channels.read_until, channels.state = 'retired')
            is distinct from (excluded.label, excluded.channel_group, excluded.is_test, excluded.read_until, false)`),
      )
    if (rows.length > 0) await upsert.execute()
    await ops(trx)
      .updateTable('livehouse.channels')
      .set({ state: 'retired', runId, changedAt: now })
      .where('state', '!=', 'retired')
      .where('channelId', 'not in', ['', ...rows.map(({ channelId }) => channelId)])
      .execute()
  })
}

/** Writes what the service says about a channel. A null leaves the stored value. */
export async function updateChannel(db: Db, channelId: string, given: ChannelFacts, runId: string): Promise<void> {
  const { name, adminId } = given
  const facts = { ...(name !== null && { name }), ...(adminId !== null && { adminId }) }
  const names = (['name', 'adminId'] as const).filter((each) => each in facts)
  await ops(db)
    .updateTable('livehouse.channels')
    .set({ ...facts, runId, changedAt: now })
    .where('channelId', '=', channelId)
    .where((eb) => eb.or(names.map((each) => eb(each, 'is distinct from', facts[each] ?? null))))
    .execute()
}
