import type { Kysely } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'

/** What a backfill was asked for; the same again resumes it while it is open. */
export interface BackfillArguments {
  /** Wall-clock text; `to` exclusive, or `now`. */
  readonly from: string
  readonly to: string
  readonly streams: readonly StreamName[]
  readonly channels: readonly string[]
  readonly onlyGaps: boolean
}

export interface OpenBackfill {
  /** Decimal text. */
  readonly backfillId: string
  readonly startedAt: Date
  /** Whether it was open already. */
  readonly isResumed: boolean
}

/** The open backfill of these arguments, or a new one. `restart` abandons what is open and begins anew. */
export async function openBackfill(
  db: Kysely<Database>,
  wanted: BackfillArguments,
  startedAt: Date,
  restart: boolean,
): Promise<OpenBackfill> {
  return await db.transaction().execute(async (trx) => {
    const old = restart ? await findOpenBackfill(trx, wanted) : undefined
    if (old !== undefined) {
      await trx.deleteFrom('livehouse_ops.open_slices').where('backfill_id', '=', old).execute()
      await closeBackfill(trx, old, 'abandoned', startedAt)
    }
    const fresh = await trx
      .insertInto('livehouse_ops.backfills')
      .values({ arguments: argumentsJson(wanted), status: 'open', started_at: startedAt })
      .onConflict((conflict) => conflict.column('arguments').where('status', '=', 'open').doNothing())
      .returning('backfill_id')
      .executeTakeFirst()
    if (fresh !== undefined) return { backfillId: fresh.backfill_id, startedAt, isResumed: false }
    const open = await openOf(trx, wanted).executeTakeFirstOrThrow()
    return { backfillId: open.backfill_id, startedAt: open.started_at, isResumed: true }
  })
}

/** The number of the open backfill of these arguments; undefined where none is open. */
export async function findOpenBackfill(db: Kysely<Database>, wanted: BackfillArguments): Promise<string | undefined> {
  return (await openOf(db, wanted).executeTakeFirst())?.backfill_id
}

function openOf(db: Kysely<Database>, wanted: BackfillArguments) {
  return db
    .selectFrom('livehouse_ops.backfills')
    .select(['backfill_id', 'started_at'])
    .where('arguments', '=', argumentsJson(wanted))
    .where('status', '=', 'open')
}

function argumentsJson(wanted: BackfillArguments): string {
  return JSON.stringify({ ...wanted, streams: wanted.streams.toSorted(), channels: wanted.channels.toSorted() })
}

/** The next one with the same arguments begins anew. */
export async function closeBackfill(
  db: Kysely<Database>,
  backfillId: string,
  status: 'finished' | 'abandoned',
  finishedAt: Date,
): Promise<void> {
  await db
    .updateTable('livehouse_ops.backfills')
    .set({ status, finished_at: finishedAt })
    .where('backfill_id', '=', backfillId)
    .where('status', '=', 'open')
    .execute()
}
