import type { Kysely } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'

/** What a backfill was asked for; the same again resumes it while it is open. */
export interface BackfillArguments {
  /** Wall-clock text; `to` exclusive. */
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
  const asked = argumentsJson(wanted)
  return await db.transaction().execute(async (trx) => {
    if (restart) {
      await trx
        .deleteFrom('livehouse_ops.open_slices')
        .where('backfill_id', 'in', (open) =>
          open
            .selectFrom('livehouse_ops.backfills')
            .select('backfill_id')
            .where('arguments', '=', asked)
            .where('status', '=', 'open'),
        )
        .execute()
      await trx
        .updateTable('livehouse_ops.backfills')
        .set({ status: 'abandoned', finished_at: startedAt })
        .where('arguments', '=', asked)
        .where('status', '=', 'open')
        .execute()
    }
    const fresh = await trx
      .insertInto('livehouse_ops.backfills')
      .values({ arguments: asked, status: 'open', started_at: startedAt })
      .onConflict((conflict) => conflict.column('arguments').where('status', '=', 'open').doNothing())
      .returning('backfill_id')
      .executeTakeFirst()
    if (fresh !== undefined) return { backfillId: fresh.backfill_id, startedAt, isResumed: false }
    const open = await trx
      .selectFrom('livehouse_ops.backfills')
      .select(['backfill_id', 'started_at'])
      .where('arguments', '=', asked)
      .where('status', '=', 'open')
      .executeTakeFirstOrThrow()
    return { backfillId: open.backfill_id, startedAt: open.started_at, isResumed: true }
  })
}

/** The number of the open backfill of these arguments; undefined where none is open. */
export async function findOpenBackfill(db: Kysely<Database>, wanted: BackfillArguments): Promise<string | undefined> {
  const open = await db
    .selectFrom('livehouse_ops.backfills')
    .select('backfill_id')
    .where('arguments', '=', argumentsJson(wanted))
    .where('status', '=', 'open')
    .executeTakeFirst()
  return open?.backfill_id
}

function argumentsJson(wanted: BackfillArguments): string {
  return JSON.stringify({ ...wanted, streams: wanted.streams.toSorted(), channels: wanted.channels.toSorted() })
}

/** The next one with the same arguments reads again. */
export async function finishBackfill(db: Kysely<Database>, backfillId: string, finishedAt: Date): Promise<void> {
  await db
    .updateTable('livehouse_ops.backfills')
    .set({ status: 'finished', finished_at: finishedAt })
    .where('backfill_id', '=', backfillId)
    .where('status', '=', 'open')
    .execute()
}

/** It is not to be resumed. */
export async function abandonBackfill(db: Kysely<Database>, backfillId: string, at: Date): Promise<void> {
  await db
    .updateTable('livehouse_ops.backfills')
    .set({ status: 'abandoned', finished_at: at })
    .where('backfill_id', '=', backfillId)
    .where('status', '=', 'open')
    .execute()
}
