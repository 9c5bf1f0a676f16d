import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database } from '../db/database.ts'

/** A run counts once, however many streams asked in vain. */
export const RUNS_UNTIL_GONE = 3

/** What a run heard of its channels. */
export interface ChannelAnswers {
  /** Channels of which the service said that there is no such channel. */
  readonly unknown: ReadonlySet<string>
  /** Channels of which anything at all was delivered: these exist, whatever else was said. */
  readonly answered: ReadonlySet<string>
}

/** The channels whose state changed. */
export interface ChannelChanges {
  readonly gone: readonly string[]
  readonly back: readonly string[]
}

/** Configured channels that the service no longer knows. */
export async function readGoneChannels(db: Kysely<Database>): Promise<ReadonlySet<string>> {
  const rows = await db.selectFrom('livehouse.channels').select('channel_id').where('state', '=', 'gone').execute()
  return new Set(rows.map(({ channel_id }) => channel_id))
}

/** The channels of which slices of this run came back with an answer, proven or not. */
export async function readAnsweredChannels(db: Kysely<Database>, runId: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ channel_id: string }>`
    select distinct substring(partition from '^channel=([^/]+)') as channel_id from livehouse_ops.slices
    where run_id = ${runId}::bigint and proof <> 'failed' and partition <> 'account'`.execute(db)
  return new Set(rows.map(({ channel_id }) => channel_id))
}

/**
 * Counts what a run heard: a channel that was unknown in three runs in a row is gone; one that answers is not, and begins
 * anew. A channel that nothing was asked of keeps its count; one that is no longer configured loses it. Where every channel
 * answers, nothing is written.
 */
export async function recordChannelAnswers(
  db: Kysely<Database>,
  { unknown, answered }: ChannelAnswers,
  runId: string,
): Promise<ChannelChanges> {
  return await db.transaction().execute(async (trx) => {
    const known = [...answered]
    await sql`
      delete from livehouse_ops.channel_states where channel_id = any(${known}::text[])
        or channel_id in (select channel_id from livehouse.channels where state = 'retired')`.execute(trx)
    const strangers = [...unknown].filter((channelId) => !answered.has(channelId))
    await sql`
      insert into livehouse_ops.channel_states as known (channel_id, unknown_runs, run_id)
      select channel_id, 1, ${runId}::bigint from unnest(${strangers}::text[]) as channel_id
      on conflict (channel_id) do update set unknown_runs = known.unknown_runs + 1, run_id = excluded.run_id
      where known.run_id < excluded.run_id`.execute(trx)
    const lost = await sql<{ channel_id: string }>`
      select channel_id from livehouse_ops.channel_states
      where unknown_runs >= ${RUNS_UNTIL_GONE} and channel_id = any(${strangers}::text[])`.execute(trx)
    const gone = lost.rows.map(({ channel_id }) => channel_id)
    return {
      gone: await changeState(trx, gone, 'active', 'gone', runId),
      back: await changeState(trx, known, 'gone', 'active', runId),
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
    .where(sql<boolean>`channel_id = any(${[...channelIds]}::text[])`)
    .returning('channel_id')
    .execute()
  return rows.map(({ channel_id }) => channel_id).toSorted()
}
