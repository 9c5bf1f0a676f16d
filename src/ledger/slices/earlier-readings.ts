import { jsonBuildObject } from 'kysely/helpers/postgres'
import { formatWindow, parseRange, parseRanges, type Place, type Window } from '../../core/slice.ts'
import type { Db } from '../../store/database.ts'
import type { LedgerPlace } from './forget-coverage.ts'
import { isAt, ops, type Statement } from '../ops.ts'
import { selectKept } from '../quarantine/quarantine.ts'

/** What the next reading of a partition needs to know of earlier ones. */
export type EarlierReadings = Awaited<ReturnType<typeof readEarlier>>

/** All in one statement: with thousands of small partitions, each statement takes as long as reading a page. */
export async function readEarlier(db: Db, place: Place, isWalk: boolean) {
  const walks = ops(db).selectFrom('slices').select('distinctRows').where(isAt(place)).where('reads', 'is', null)
  const lastWalk = walks.where('status', '=', 'landed').orderBy('sliceId', 'desc').limit(1)
  const { hasWaiting, ...row } = await db
    .selectNoFrom((eb) => [
      eb.exists(selectKept(db).where(isAt(place))).as('hasWaiting'),
      selectKnownFields(db, place).as('fields'),
      lastWalk.where(eb.lit(isWalk)).as('lastWalk'),
    ])
    .executeTakeFirstOrThrow()
  const fields = row.fields ?? []
  return {
    /** Whether any items wait in quarantine. */
    hasWaiting: hasWaiting === true,
    /** Fields that items have had, without those that an operator has accepted as missing. */
    knownFields: fields.map(({ field }) => field),
    /** Those of them that were not missing last time. */
    presentFields: fields.flatMap(({ field, isPresent }) => (isPresent ? field : [])),
    /** How many rows the last landed walk found; undefined before the first, and where windows are read. */
    lastWalk: row.lastWalk === null ? undefined : Number(row.lastWalk),
  }
}

/** What earlier readings have covered of a window. */
export type EarlierCoverage = Awaited<ReturnType<typeof readEarlierCoverage>>

/** Those are comparable that ended by `endedBy`, of another page size or of one page. */
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
    /** How far comparable readings have covered it without a gap, from its beginning on; undefined for nothing. */
    comparedTo: parseRanges(compared).find(({ from }) => from === window.from)?.to,
  }
}

/** Rows of the largest page of the last reading of a window, and of the one before it, where these had several. */
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
interface Drop extends Place {
  readonly window: Window | undefined
  readonly found: number
  /** An earlier reading with more rows than this was fuller. */
  readonly most: number
  readonly now: Date
}

/** How much later another reading must be to confirm one of few rows, or of a list without a total. */
export const AGREEMENT_SECONDS = 3600

/**
 * What the readings have read, at least an hour earlier, that agree with so few rows; undefined for a whole list. They
 * found as few rows, and no reading since found more, proven or not. A list or window may grow in between, to twice as
 * many at the most: so an empty answer confirms an empty one alone.
 */
export async function findAgreeing(
  db: Db,
  { window, found, most, now, ...place }: Drop,
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
  // Of a reading that lies across an end of the window it is not known how many of its rows lie within.
  const fuller = readings.filter(({ isDrop, isWithin, rows, proof }) =>
    isWithin ? rows > most : !isDrop && proof !== 'short',
  )
  const lastFuller = Math.max(0, ...fuller.map(({ number }) => number))
  const endedBy = now.getTime() - AGREEMENT_SECONDS * 1000
  return readings
    .filter(({ isDrop, isWithin, number }) => isDrop && isWithin && number > lastFuller)
    .filter(({ finishedAt, rows }) => finishedAt.getTime() <= endedBy && found <= 2 * rows)
    .map(({ read }) => read)
}

/**
 * A query, as one value, of the fields that items have had, without those that are accepted as missing. `isPresent`: it
 * was not missing last time.
 */
function selectKnownFields(db: Db, place: Place) {
  const known = ops(db).selectFrom('known_fields').where(isAt(place)).where('acceptedAt', 'is', null)
  return known.select((eb) => {
    const field = jsonBuildObject({ field: eb.ref('field'), isPresent: eb('missingSince', 'is', null) })
    return eb.fn.agg<readonly { field: string; isPresent: boolean }[] | null>('json_agg', [field]).as('fields')
  })
}

/** Remembers the fields of items; those on record as missing no longer are. `fields`: at least one. */
export function rememberFields(db: Db, place: Place, fields: readonly string[]): Statement {
  return ops(db)
    .insertInto('known_fields')
    .values(fields.map((field) => ({ ...place, field })))
    .onConflict((conflict) =>
      conflict
        .columns(['stream', 'partition', 'field'])
        .doUpdateSet({ missingSince: null, acceptedAt: null, reason: null })
        .where('known_fields.missingSince', 'is not', null),
    )
}

/** Notes that a slice had these fields in none of its items. */
export async function noteMissingFields(db: Db, place: Place, fields: readonly string[], at: Date): Promise<void> {
  await ops(db)
    .updateTable('known_fields')
    .set({ missingSince: at })
    .where(isAt(place))
    .where('field', 'in', fields)
    .where('missingSince', 'is', null)
    .execute()
}

/** Accepts that fields of a channel (null for the account) are missing. @returns their names, if any is missing */
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
