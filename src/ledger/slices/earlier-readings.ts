import { jsonBuildObject } from 'kysely/helpers/postgres'
import { formatWindow, type Place, parseRange, parseRanges, type Window } from '../../core/slice.ts'
import type { Db } from '../../store/database.ts'
import { isAt, ops } from '../ops.ts'
import { selectWaiting } from '../quarantine/quarantine.ts'
import type { LedgerPlace } from './forget-coverage.ts'

/** What the next reading of a partition needs to know about earlier ones. */
export type EarlierReadings = Awaited<ReturnType<typeof readEarlierReadings>>

/** Reads all in one statement: for thousands of small partitions, each statement costs as much as reading a page. */
export async function readEarlierReadings(db: Db, place: Place, isWholeList: boolean) {
  const readings = ops(db).selectFrom('slices').select('distinctRows').where(isAt(place)).where('reads', 'is', null)
  const lastReading = readings.where('status', '=', 'landed').orderBy('sliceId', 'desc').limit(1)
  const { hasWaiting, ...row } = await db
    .selectNoFrom((eb) => [
      eb.exists(selectWaiting(db).where(isAt(place))).as('hasWaiting'),
      selectKnownFields(db, place).as('fields'),
      lastReading.where(eb.lit(isWholeList)).as('lastRows'),
    ])
    .executeTakeFirstOrThrow()
  const fields = row.fields ?? []
  return {
    /** Whether the partition has items in quarantine. */
    hasWaiting: hasWaiting === true,
    /** Fields that earlier items had, except those that an operator has accepted as missing. */
    knownFields: fields.map(({ field }) => field),
    /** The known fields that were not missing last time. */
    presentFields: fields.flatMap(({ field, isPresent }) => (isPresent ? field : [])),
    /** How many rows the last landed reading of a whole list found; undefined before it, and for windows. */
    lastRows: row.lastRows === null ? undefined : Number(row.lastRows),
  }
}

/**
 * Reads what earlier readings have covered of a window. They are comparable if they ended by `endedBy`, with another
 * page size or on a single page.
 */
export async function readEarlierCoverage(
  db: Db,
  { stream, partition, window }: LedgerPlace,
  { endedBy, pageSize }: { readonly endedBy: Date; readonly pageSize: number | undefined },
) {
  const { seen, compared } = await ops(db)
    .selectFrom('slices')
    .where((slice) => slice.and({ stream, partition, status: 'landed' }))
    .where('covers', '&&', formatWindow(window))
    .select((eb) => {
      const covered = eb.fn.agg<string | null>('range_agg', [eb('covers', '*', formatWindow(window))])
      const isOfOtherSize = eb('pageSize', 'is', null).or('pageSize', 'is distinct from', pageSize ?? null)
      const isComparable = eb('finishedAt', '<=', endedBy).and(isOfOtherSize)
      return [covered.as('seen'), covered.filterWhere(isComparable).as('compared')]
    })
    .executeTakeFirstOrThrow()
  return {
    /** As `tsmultirange` text. */
    seen: seen ?? '{}',
    /** How far comparable readings cover the window without a gap, from its beginning; undefined if not at all. */
    comparedTo: parseRanges(compared).find(({ from }) => from === window.from)?.to,
  }
}

/** The page sizes of the last two runs that read the window on several pages, newest first. */
export async function readLastPageSizes(db: Db, { window, ...place }: LedgerPlace): Promise<readonly number[]> {
  const rows = await ops(db)
    .selectFrom('slices')
    .select(({ fn }) => fn.max('pageSize').as('size'))
    .where(isAt(place))
    .where('status', '=', 'landed')
    .where('covers', '&&', formatWindow(window))
    .where('pageSize', 'is not', null)
    .groupBy('runId')
    .orderBy('runId', 'desc')
    .limit(2)
    .execute()
  return rows.flatMap(({ size }) => size ?? [])
}

/** A reading of a whole list or of a window that found surprisingly few rows. */
interface SmallReading extends Place {
  readonly window: Window | undefined
  readonly found: number
  /** An earlier reading is fuller if it found more rows than this. */
  readonly most: number
  readonly now: Date
}

/** How much later a second reading must be to confirm a surprisingly small one, or one of a list without a total. */
export const AGREEMENT_SECONDS = 3600

/**
 * The ranges of the readings that agree with so few rows; undefined stands for a whole list. They ended at least an
 * hour earlier and found as few rows, and no reading since found more, proven or not. The rows may at most have doubled
 * since then, so an empty reading confirms only an empty one.
 */
export async function findAgreeingReadings(
  db: Db,
  { window, found, most, now, ...place }: SmallReading,
): Promise<readonly (Window | undefined)[]> {
  const slices = await ops(db)
    .selectFrom('slices')
    .select(['sliceId', 'pieceOf', 'isDrop', 'distinctRows', 'finishedAt', 'reads', 'proof'])
    .where(isAt(place))
    .where((slice) => slice('status', 'in', ['landed', 'moving']).or('proof', '=', 'short').or('isDrop', '=', true))
    .where((slice) => (window ? slice('reads', '&&', formatWindow(window)) : slice('reads', 'is', null)))
    .execute()
  const readings = slices.map(({ reads, distinctRows, ...row }) => {
    const read = parseRange(reads)
    const isWithin = window === undefined || (read !== undefined && read.from >= window.from && read.to <= window.to)
    return { ...row, read, isWithin, rows: Number(distinctRows), number: Number(row.pieceOf ?? row.sliceId) }
  })
  // If a reading crosses an end of the window, how many of its rows lie within is unknown.
  const fullerReadings = readings.filter(({ isDrop, isWithin, rows, proof }) =>
    isWithin ? rows > most : !isDrop && proof !== 'short',
  )
  const lastFuller = Math.max(0, ...fullerReadings.map(({ number }) => number))
  const endedBy = now.getTime() - AGREEMENT_SECONDS * 1000
  return readings
    .filter(({ isDrop, isWithin, number }) => isDrop && isWithin && number > lastFuller)
    .filter(({ finishedAt, rows }) => finishedAt.getTime() <= endedBy && found <= 2 * rows)
    .map(({ read }) => read)
}

/**
 * A subquery with one JSON value: the fields that earlier items had, except those accepted as missing. `isPresent`: the
 * field was not missing last time.
 */
function selectKnownFields(db: Db, place: Place) {
  const known = ops(db).selectFrom('known_fields').where(isAt(place)).where('acceptedAt', 'is', null)
  return known.select((eb) => {
    const field = jsonBuildObject({ field: eb.ref('field'), isPresent: eb('missingSince', 'is', null) })
    return eb.fn.agg<readonly { field: string; isPresent: boolean }[] | null>('json_agg', [field]).as('fields')
  })
}

/** Records the fields of items, and that they are no longer missing. @param fields at least one */
export async function recordFields(db: Db, place: Place, fields: readonly string[]): Promise<void> {
  await ops(db)
    .insertInto('known_fields')
    .values(fields.map((field) => ({ ...place, field })))
    .onConflict((conflict) =>
      conflict
        .columns(['stream', 'partition', 'field'])
        .doUpdateSet({ missingSince: null, acceptedAt: null, reason: null })
        .where('known_fields.missingSince', 'is not', null),
    )
    .execute()
}

/** Records that no item of a slice had these fields. */
export async function recordMissingFields(db: Db, place: Place, fields: readonly string[], at: Date): Promise<void> {
  await ops(db)
    .updateTable('known_fields')
    .set({ missingSince: at })
    .where(isAt(place))
    .where('field', 'in', fields)
    .where('missingSince', 'is', null)
    .execute()
}

/** Accepts the missing fields of a channel (null: the account). @returns their names; none if nothing was missing */
export async function acceptMissingFields(
  db: Db,
  { stream, channelId, reason, at }: { stream: string; channelId: string | null; reason: string; at: Date },
): Promise<readonly string[]> {
  // A channel's partitions begin with its name.
  const place = channelId === null ? 'account' : `channel=${channelId}`
  const rows = await ops(db)
    .updateTable('known_fields')
    .set({ acceptedAt: at, reason })
    .where('stream', '=', stream)
    .where((eb) => eb(eb.fn<string>('split_part', ['partition', eb.val('/'), eb.lit(1)]), '=', place))
    .where('missingSince', 'is not', null)
    .where('acceptedAt', 'is', null)
    .returning('field')
    .execute()
  return [...new Set(rows.map(({ field }) => field))].sort()
}
