import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { formatWindow, type Place, parseRange, type Window } from '../core/slice.ts'
import { DAY } from '../core/wall-clock.ts'
import type { Db } from '../store/database.ts'
import { isAt, type Ops, ops, type Row } from './ops.ts'
import type { SliceRecord } from './slices/slices.ts'

/** The progress of a slice that is read over several days. `pagesRead`: pages whose rows are committed. */
export interface OpenSlice
  extends Pick<Row<'open_slices'>, 'pagesRead' | 'pageSize' | 'startedAt' | 'readAt'>,
    Pick<SliceRecord, 'covers' | 'backfillId' | 'quarantinedRows' | 'calls' | 'retries'> {
  readonly window: Window
  /** The keys of all rows so far. */
  readonly keys: ReadonlySet<string>
  /** The keys of the last page, in its order. */
  readonly lastPageKeys: readonly string[]
  /** How many rows lie inside the window. */
  readonly foundRows: number
  /** The page that the service refuses, and since when; undefined once it is read. It survives a cut of the slice. */
  readonly refused: { readonly page: number; readonly since: Date } | undefined
}

const MAX_REFUSAL_MS = 3 * DAY * 1000

/** Whether the next page has been refused for so long that a spent day's budget cannot be the reason. */
export function isRefusedForDays({ refused, pagesRead }: OpenSlice, nowMs: number): boolean {
  return refused?.page === pagesRead + 1 && nowMs - refused.since.getTime() >= MAX_REFUSAL_MS
}

/** The open slice of a partition; undefined if there is none. */
export async function readOpenSlice(db: Db, place: Place): Promise<OpenSlice | undefined> {
  const row = await ops(db).selectFrom('open_slices').selectAll().where(isAt(place)).executeTakeFirst()
  const window = row && parseRange(row.reads)
  if (row === undefined || window === undefined) return undefined
  const since = row.refusedSince
  return {
    ...row,
    window,
    covers: parseRange(row.covers),
    backfillId: row.backfillId ?? undefined,
    keys: new Set(row.keys),
    foundRows: Number(row.foundRows),
    quarantinedRows: Number(row.quarantinedRows),
    calls: Number(row.calls),
    retries: Number(row.retries),
    refused: since ? { page: row.refusedPage ?? 1, since } : undefined,
  }
}

/** Saves the progress of a slice. Call it in the transaction that writes the rows of its last page. */
export async function saveOpenSlice(
  db: Db,
  place: Place & { readonly runId: string },
  { window, covers, keys, refused, ...slice }: OpenSlice,
): Promise<void> {
  const row = {
    ...slice,
    ...place,
    reads: formatWindow(window),
    covers: covers ? formatWindow(covers) : null,
    backfillId: slice.backfillId ?? null,
    keys: [...keys],
    lastPageKeys: [...slice.lastPageKeys],
    refusedSince: refused?.since ?? null,
    refusedPage: refused?.page ?? null,
  }
  const saving = ops(db).insertInto('open_slices').values(row)
  await saving.onConflict((conflict) => conflict.columns(['stream', 'partition']).doUpdateSet(row)).execute()
}

/** Deletes the progress of the slices that match a condition: they have ended, or start again. */
export async function closeOpenSlices(
  trx: Db,
  where: (eb: ExpressionBuilder<Ops, 'open_slices'>) => Expression<SqlBool>,
): Promise<void> {
  await ops(trx).deleteFrom('open_slices').where(where).execute()
}
