import type { Kysely } from 'kysely'
import { formatRange, parseRange, type Window } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import { DAY } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'

/** How far a slice has come that is read over several days. */
export interface OpenSlice {
  readonly window: Window
  /** What of it will count as covered; undefined for nothing. */
  readonly covers: Window | undefined
  readonly backfillId: string | undefined
  /** Pages whose rows are committed; 0 of one that was refused before its first. */
  readonly pagesRead: number
  /** Items of the largest page that came. */
  readonly pageSize: number
  /** Of the rows that came so far. */
  readonly keys: ReadonlySet<string>
  /** In the order of the page. */
  readonly lastPageKeys: readonly string[]
  /** Rows inside the window. */
  readonly foundRows: number
  readonly quarantinedRows: number
  readonly calls: number
  readonly retries: number
  readonly startedAt: Date
  /** When the last page was committed. */
  readonly readAt: Date
  /** The page that the service refuses, and since when; undefined once it is committed. A half keeps it until it comes as far. */
  readonly refused: { readonly page: number; readonly since: Date } | undefined
}

const LONGEST_REFUSAL_MS = 3 * DAY * 1000

/** Whether its next page has been refused for so long that the calls of a day are not the reason. */
export function isRefusedForDays({ refused, pagesRead }: OpenSlice, nowMs: number): boolean {
  return refused?.page === pagesRead + 1 && nowMs - refused.since.getTime() >= LONGEST_REFUSAL_MS
}

/** The slice of a partition that is being read; undefined where none is. */
export async function readOpenSlice(
  db: Kysely<Database>,
  stream: StreamName,
  partition: string,
): Promise<OpenSlice | undefined> {
  const row = await db
    .selectFrom('livehouse_ops.open_slices')
    .selectAll()
    .where('stream', '=', stream)
    .where('partition', '=', partition)
    .executeTakeFirst()
  const window = row && parseRange(row.reads)
  if (row === undefined || window === undefined) return undefined
  return {
    window,
    covers: parseRange(row.covers),
    backfillId: row.backfill_id ?? undefined,
    pagesRead: row.pages_read,
    pageSize: row.page_size,
    keys: new Set(row.keys),
    lastPageKeys: row.last_page_keys,
    foundRows: Number(row.found_rows),
    quarantinedRows: Number(row.quarantined_rows),
    calls: Number(row.calls),
    retries: Number(row.retries),
    startedAt: row.started_at,
    readAt: row.read_at,
    refused: row.refused_since ? { page: row.refused_page ?? 1, since: row.refused_since } : undefined,
  }
}

/** Keeps how far a slice has come; in the transaction of the rows of its last page. */
export async function saveOpenSlice(
  db: Kysely<Database>,
  place: { readonly stream: StreamName; readonly partition: string; readonly runId: string },
  slice: OpenSlice,
): Promise<void> {
  const progress = {
    reads: formatRange(slice.window),
    covers: slice.covers ? formatRange(slice.covers) : null,
    backfill_id: slice.backfillId ?? null,
    pages_read: slice.pagesRead,
    page_size: slice.pageSize,
    keys: [...slice.keys],
    last_page_keys: [...slice.lastPageKeys],
    found_rows: slice.foundRows,
    quarantined_rows: slice.quarantinedRows,
    calls: slice.calls,
    retries: slice.retries,
    run_id: place.runId,
    started_at: slice.startedAt,
    read_at: slice.readAt,
    refused_since: slice.refused?.since ?? null,
    refused_page: slice.refused?.page ?? null,
  }
  await db
    .insertInto('livehouse_ops.open_slices')
    .values({ stream: place.stream, partition: place.partition, ...progress })
    .onConflict((conflict) => conflict.columns(['stream', 'partition']).doUpdateSet(progress))
    .execute()
}

/** The slice has ended, or is to be begun anew. */
export async function closeOpenSlice(db: Kysely<Database>, stream: StreamName, partition: string): Promise<void> {
  await db
    .deleteFrom('livehouse_ops.open_slices')
    .where('stream', '=', stream)
    .where('partition', '=', partition)
    .execute()
}
