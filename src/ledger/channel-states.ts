import { type Kysely, sql, type Transaction } from 'kysely'
import { parsePartition } from '../core/slice.ts'
import type { Database } from '../store/database.ts'

/** A day counts once, however many runs asked in vain. */
export const DAYS_UNTIL_GONE = 3

/** What a run heard of its channels. */
export interface ChannelAnswers {
  /** The service's day, `YYYY-MM-DD`. */
  readonly serviceDay: string
  /** Channels of which the service said that there is no such channel. */
  readonly unknown: ReadonlySet<string>
  /** Channels of which anything at all was delivered: these exist, whatever else was said. */
  readonly answered: ReadonlySet<string>
}

/** The channels whose state changed. */
export interface ChannelChanges {
  readonly gone: readonly string[]
  readonly back: readonly string[]
  /** Would be gone, but are over half of those that are configured: that is a failure of the service. */
  readonly tooMany: readonly string[]
}

/** Configured channels that the service no longer knows. */
export async function readGoneChannels(db: Kysely<Database>): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('livehouse.channels').select('channel_id').where('state', '=', 'gone').execute()
  return new Set(rows.map(({ channel_id }) => channel_id))
}

/** Channels that are gone, and were not asked for yet on this day of the service. */
export async function readUnaskedChannels(db: Kysely<Database>, serviceDay: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('livehouse.channels')
    .leftJoin('livehouse_ops.channel_states as known', 'known.channel_id', 'livehouse.channels.channel_id')
    .select('livehouse.channels.channel_id')
    .where('state', '=', 'gone')
    .where(sql<boolean>`last_unknown_on is distinct from ${serviceDay}::date`)
    .execute()
  return rows.map(({ channel_id }) => channel_id)
}

/** The channels of which slices of this run came back with an answer, proven or not. */
export async function readAnsweredChannels(db: Kysely<Database>, runId: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('livehouse_ops.slices')
    .select('partition')
    .distinct()
    .where('run_id', '=', runId)
    .where('proof', '!=', 'failed')
    .execute()
  return new Set(rows.flatMap(({ partition }) => parsePartition(partition)?.channel ?? []))
}

/**
 * Counts what a run heard: a channel that was unknown on three days, without an answer in between, is gone; one that answers is
 * not, and begins anew. A channel that nothing was asked of keeps its count; one that is no longer configured loses it. Where
 * every channel answers, nothing is written.
 */
export async function recordChannelAnswers(
  db: Kysely<Database>,
  { unknown, answered, serviceDay }: ChannelAnswers,
  runId: string,
): Promise<ChannelChanges> {
  return await db.transaction().execute(async (trx) => {
    const known = [...answered]
    await trx
      .deleteFrom('livehouse_ops.channel_states')
      .where((eb) =>
        eb.or([
          eb('channel_id', 'in', [...known, '']),
          eb(
            'channel_id',
            'in',
            eb.selectFrom('livehouse.channels').select('channel_id').where('state', '=', 'retired'),
          ),
        ]),
      )
      .execute()
    const strangers = [...unknown].filter((channelId) => !answered.has(channelId))
    await sql`
      insert into livehouse_ops.channel_states as known (channel_id, unknown_days, last_unknown_on, run_id)
      select channel_id, 1, ${serviceDay}::date, ${runId}::bigint from unnest(${strangers}::text[]) as channel_id
      on conflict (channel_id) do update set unknown_days = known.unknown_days + 1,
        last_unknown_on = excluded.last_unknown_on, run_id = excluded.run_id
      where known.last_unknown_on < excluded.last_unknown_on`.execute(trx)
    const { rows } = await sql<{ channel_id: string; is_due: boolean }>`
      select channel_id, state = 'active' and unknown_days >= ${DAYS_UNTIL_GONE} and channel_id = any(${strangers}::text[]) as is_due
      from livehouse.channels left join livehouse_ops.channel_states using (channel_id) where state <> 'retired'`.execute(
      trx,
    )
    const due = rows.flatMap(({ channel_id, is_due }) => (is_due ? [channel_id] : []))
    const isTooMany = due.length > rows.length / 2
    return {
      gone: isTooMany ? [] : await changeState(trx, due, 'active', 'gone', runId),
      back: await changeState(trx, known, 'gone', 'active', runId),
      tooMany: isTooMany ? due : [],
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
  const rows = await trx
    .updateTable('livehouse.channels')
    .set({ state: to, run_id: runId, changed_at: sql`now()` })
    .where('state', '=', from)
    .where('channel_id', 'in', [...channelIds, ''])
    .returning('channel_id')
    .execute()
  return rows.map(({ channel_id }) => channel_id).toSorted()
}

/** A channel of the warehouse. */
export interface ListedChannel {
  readonly channelId: string
  /** As the service has it; null until a visitor told. */
  readonly name: string | null
  readonly label: string | null
  readonly group: string | null
  readonly isTest: boolean
  readonly state: 'active' | 'retired' | 'gone'
}

const listed = [
  'channel_id as channelId',
  'name',
  'label',
  'channel_group as group',
  'is_test as isTest',
  'state',
] as const

/** Every channel, by id. */
export async function readChannelList(db: Kysely<Database>): Promise<readonly ListedChannel[]> {
  return await db.selectFrom('livehouse.channels').select(listed).orderBy('channel_id').execute()
}

/** A channel of the warehouse, and what it holds of it. */
export interface ChannelState extends ListedChannel {
  readonly visitors: number
  readonly watchRecords: number
  readonly lastLandedAt: Date | null
}

/** Every channel of the warehouse, by id. */
export async function readChannelStates(db: Kysely<Database>): Promise<ReadonlyMap<string, ChannelState>> {
  const rows = await db
    .selectFrom('livehouse.channels as c')
    .select(listed)
    // Tables of streams are unknown to the builder.
    .select([
      sql<number>`(select count(*)::float8 from livehouse.visitors v where v.channel_id = c.channel_id and removed_at is null)`.as(
        'visitors',
      ),
      sql<number>`(select count(*)::float8 from livehouse.watch_records w where w.channel_id = c.channel_id)`.as(
        'watchRecords',
      ),
    ])
    .select((eb) =>
      eb
        .selectFrom('livehouse_ops.latest_readings as r')
        .select(({ fn }) => fn.max('landed_at').as('at'))
        .whereRef('r.channel_id', '=', 'c.channel_id')
        .as('lastLandedAt'),
    )
    .orderBy('channel_id')
    .execute()
  return new Map(rows.map((row) => [row.channelId, row]))
}
