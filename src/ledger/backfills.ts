import type { Db } from '../store/database.ts'
import { closeOpenSlices } from './open-slices.ts'
import { ops } from './ops.ts'

/** The arguments of a backfill. While it is open, a command with the same arguments resumes it. */
export interface BackfillArguments {
  /** Wall-clock text; `to` exclusive, or `now`. */
  readonly from: string
  readonly to: string
  readonly streams: readonly string[]
  readonly channels: readonly string[]
  readonly onlyGaps: boolean
}

/** Resumes the open backfill with these arguments, or starts a new one. `restart` abandons an open one first. */
export async function openBackfill(db: Db, wanted: BackfillArguments, startedAt: Date, restart: boolean) {
  return await db.transaction().execute(async (trx) => {
    const abandonedId = restart ? await findOpenBackfill(trx, wanted) : undefined
    if (abandonedId !== undefined) {
      await closeOpenSlices(trx, (eb) => eb('backfillId', '=', abandonedId))
      await closeBackfill(trx, abandonedId, 'abandoned', startedAt)
    }
    const newBackfill = await ops(trx)
      .insertInto('backfills')
      .values({ arguments: argumentsJson(wanted), status: 'open', startedAt })
      .onConflict((conflict) => conflict.doNothing())
      .returning(['backfillId', 'startedAt'])
      .executeTakeFirst()
    const open = newBackfill ?? (await selectOpenBackfill(trx, wanted).executeTakeFirstOrThrow())
    return { ...open, isResumed: newBackfill === undefined }
  })
}

/** The number of the open backfill with these arguments; undefined if none is open. */
export async function findOpenBackfill(db: Db, wanted: BackfillArguments): Promise<string | undefined> {
  return (await selectOpenBackfill(db, wanted).executeTakeFirst())?.backfillId
}

function selectOpenBackfill(db: Db, wanted: BackfillArguments) {
  return selectOpenBackfills(db).select('startedAt').where('arguments', '=', argumentsJson(wanted))
}

function argumentsJson(wanted: BackfillArguments): string {
  return JSON.stringify({ ...wanted, streams: wanted.streams.toSorted(), channels: wanted.channels.toSorted() })
}

/** Closes a backfill: the next one with the same arguments starts from the beginning. */
export async function closeBackfill(
  db: Db,
  backfillId: string,
  status: 'finished' | 'abandoned',
  finishedAt: Date,
): Promise<void> {
  const open = ops(db).updateTable('backfills').where('backfillId', '=', backfillId).where('status', '=', 'open')
  await open.set({ status, finishedAt }).execute()
}

/** A subquery of the numbers of open backfills. */
export function selectOpenBackfills(db: Db) {
  return ops(db).selectFrom('backfills').select('backfillId').where('status', '=', 'open')
}
