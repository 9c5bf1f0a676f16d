import { isDeepStrictEqual } from 'node:util'
import type { Row } from '../core/column.ts'
import type { RejectedItem } from '../core/page.ts'
import { placeOf, type Proof } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { chargeAcceptance } from '../ledger/slices/acceptances.ts'
import { duplicateItem } from '../ledger/quarantine/quarantine.ts'
import { findAgreeing } from '../ledger/slices/earlier-readings.ts'
import { countEarlier, rowKeyColumn } from '../store/load/table-part.ts'
import type { RunDeps, Slice } from './slice-work.ts'
import { declaredText, type HeldRow, type WalkSummary } from './walk.ts'

/** What a walk proves, and one sentence that says why where it is neither `verified` nor `unverifiable`. */
export interface Verdict {
  readonly proof: Exclude<Proof, 'agreed' | 'accepted' | 'failed'>
  readonly reason: string | undefined
  /** The list did not change while it was read, yet some of its rows came twice and others did not come. */
  readonly isStill?: boolean
  /** False where it is `short` because it did not come to rest: how many rows are missing is not known. */
  readonly isAtRest?: boolean
}

/** How many items a walk has brought, each counted once. */
export function accountedFor({ distinct, rejected }: Pick<WalkSummary, 'distinct' | 'rejected'>): number {
  return distinct + rejected.length
}

/** Whether more rows came than the source says there are: then its total is wrong and proves nothing. */
export function exceedsTotal(summary: WalkSummary): boolean {
  return summary.totals !== undefined && accountedFor(summary) > summary.totals.largest
}

/**
 * Judges one walk by itself. `verified`: the source told the same total in every answer, the distinct rows and
 * quarantined items that came add up to it, and no more items came. That proves the count only. Where more came, some
 * twice, the total may be wrong and other rows may be missing.
 */
export function judgeWalk({ totals, received, distinct, rejected }: WalkSummary): Verdict {
  if (totals === undefined) return { proof: 'unverifiable', reason: undefined }
  const { first, smallest, largest } = totals
  if (smallest !== largest)
    return { proof: 'moving', reason: `the source's total moved between ${smallest} and ${largest} while it was read` }
  const accounted = distinct + rejected.length
  if (accounted === first && received === first) return { proof: 'verified', reason: undefined }
  if (accounted > first) {
    const reason = `the source says ${first}, but ${accounted} rows came: its total is not true`
    return { proof: 'moving', reason, isStill: accounted < received }
  }
  const came = `${distinct} distinct and ${rejected.length} quarantined rows came, ${received - accounted} came twice`
  if (received < first) return { proof: 'short', reason: `the source says ${first}, but ${came}` }
  return { proof: 'moving', reason: `the source says ${first}; ${came}`, isStill: true }
}

/** Which rows a reading found at the source, by key (without the parts that the partition names). */
export interface FoundRows {
  /** Of the whole walk, or those that lie in the window. */
  readonly count: number
  readonly has: (key: string) => boolean
}

/** A slice that was read. Its rows have gone to the loader, except those whose keys came more than once. */
export interface Extraction {
  readonly summary: WalkSummary
  readonly verdict: Verdict
  /** Rows of the slice's window, or of the walk. */
  readonly found: FoundRows
  /** Rows without an id of a reading that fell short: written only where an operator has accepted that. */
  readonly unproven?: readonly Row[]
  /** For rows without an id: how many the largest page held; undefined where all were on one page. */
  readonly pageSize?: number | undefined
  /** Column headers as JSON text (API 4.11), also of an answer without rows; undefined where there are none. */
  readonly title: string | undefined
}

/** A slice that was read, or that is cut into parts which are still to be read. */
export type Extracted =
  /** `rows`: those that came; only their times where rows have a key. */
  | { readonly kind: 'read'; readonly extraction: Extraction; readonly rows: readonly Row[] }
  | { readonly kind: 'cut'; readonly parts: readonly Slice[]; readonly hasMoved?: boolean }

/** How often a slice that does not prove itself is read; each reading is judged by itself. */
export const MOST_READINGS = 3
/** How often a slice is read that cannot be cut, and whose rows come twice each time: together they may bring all. */
export const MOST_WALKS = 10

/** Whether another reading would not prove more: then a row that did not come is not there. */
export function isConclusive({ proof }: Pick<FullVerdict, 'proof'>): boolean {
  return proof === 'verified' || proof === 'unverifiable'
}

/**
 * Judges a walk together with the one before it. Equal keys are real duplicates only where two walks in a row show the
 * same keys more than once with the same differing contents: a row that a moving list shifts comes twice unchanged, and
 * a row that changes does not come the same way again. Equal unreadable items on two pages are two only where both
 * walks show them as often among the same keys, on pages of different sizes.
 * @param isSameElsewhere whether both brought the same keys, on pages of other sizes
 */
export function judgeWalks(summary: WalkSummary, previous: WalkSummary | undefined, isSameElsewhere: boolean): Verdict {
  const verdict = judgeWalk(summary)
  const { totals, received, repeated, rejectedAgain } = summary
  const isStill = totals !== undefined && totals.smallest === totals.largest && received === totals.first
  if (verdict.proof !== 'moving' || !isStill || repeated.length > 0 || previous === undefined) return verdict
  if (rejectedAgain.length > 0 && !(isSameElsewhere && isDeepStrictEqual(unreadOf(summary), unreadOf(previous))))
    return verdict
  const groups = contentsOf(summary)
  const isDiffering = groups.every((contents) => new Set(contents).size === contents.length)
  if (!isDiffering || JSON.stringify(groups) !== JSON.stringify(contentsOf(previous))) return verdict
  return { proof: 'verified', reason: undefined }
}

function unreadOf({ rejected, rejectedAgain }: WalkSummary): readonly string[] {
  return [...rejected, ...rejectedAgain].map(({ raw }) => raw).sort()
}

/** The contents of keys that came more than once, as sorted texts, in the order of the keys. */
function contentsOf({ held }: WalkSummary): readonly (readonly string[])[] {
  const groups = [...held].filter(([, rows]) => rows.length > 1).sort(([a], [b]) => (a < b ? -1 : 1))
  return groups.map(([, rows]) => rows.map(({ row }) => declaredText(row)).sort())
}

/** How many rows there may be beside one of each key, as the key came with several contents. */
export function countOthers(summary: WalkSummary): number {
  return contentsOf(summary).reduce((sum, contents) => sum + new Set(contents).size - 1, 0)
}

/** The freshest row of each key that was held back, in whatever order they came. */
export function freshestOf(stream: Stream, held: WalkSummary['held']): readonly Row[] {
  return [...held.values()].flatMap((rows) => rank(stream, rows).slice(0, 1)).map(({ row }) => row)
}

/** The other rows of these keys, for quarantine. */
export function duplicatesOf(stream: Stream, held: WalkSummary['held']): readonly RejectedItem[] {
  const path = keyField(stream)
  return [...held.values()].flatMap((rows) =>
    rank(stream, rows)
      .slice(1)
      .map(({ raw }) => duplicateItem(raw, path, rows.length)),
  )
}

/** The source field of the key. */
export function keyField(stream: Stream): string {
  const source = stream.columns[rowKeyColumn(stream)]?.source
  return source?.kind === 'field' ? source.field : ''
}

function rank({ freshnessColumn }: Stream, rows: readonly HeldRow[]): readonly HeldRow[] {
  const freshness = ({ row, raw }: HeldRow) => [String(row[freshnessColumn ?? ''] ?? ''), raw].join('\u0000')
  return rows.toSorted((a, b) => (freshness(a) < freshness(b) ? 1 : -1))
}

export interface FullVerdict {
  readonly proof: Verdict['proof'] | 'accepted' | 'failed'
  readonly reason: string | undefined
  /** Whether surprisingly few rows were found, believed or not. */
  readonly isDrop: boolean
  readonly missingRows?: number
  readonly acceptanceId?: string
}

interface Finding {
  readonly verdict: Verdict
  readonly found: Pick<Extraction['found'], 'count'>
  readonly summary: Pick<Extraction['summary'], 'totals' | 'distinct' | 'rejected'>
}

/** Fewer rows than this say nothing about a share. */
const SMALLEST_HELD = 20
/** A reading with less than this share of the rows that are expected has surprisingly few. */
const SMALLEST_SHARE = 0.9

/** Whether so many rows are surprisingly few where so many are expected. */
export function isDrop(rows: number, expected: number): boolean {
  return expected > SMALLEST_HELD && rows < expected * SMALLEST_SHARE
}

/**
 * Compares what a reading found with what the warehouse had before; a whole list of which no row is ever marked, with
 * its last reading. A sudden drop, such as an empty answer, is never green at once, whatever the source's total says.
 * @param lastWalk rows of the last reading of a whole list; undefined for windows, and before the first
 */
export async function compareWithEarlier(
  slice: Slice,
  { verdict, found, summary }: Finding,
  { db, clock, timeZone, runId }: RunDeps,
  lastWalk: number | undefined,
): Promise<FullVerdict> {
  const { stream, partition, window } = slice
  if (verdict.isAtRest === false) return { ...verdict, isDrop: false }
  if (verdict.proof === 'short') {
    const missingRows = (summary.totals?.largest ?? 0) - accountedFor(summary)
    return { ...verdict, isDrop: false, missingRows }
  }
  const part = { stream, partition, window, timeZone }
  const isCompared = window !== undefined || stream.marksRemoved
  const earlier = await countEarlier(db, part, runId)
  const before = isCompared ? earlier.before : (lastWalk ?? 0)
  // A proven walk also has to bring what this run inserted in an earlier walk, and as many rows as were announced.
  const [inserted, announced] = isConclusive(verdict) ? [earlier.inserted, slice.announced ?? 0] : [0, 0]
  // Rows that came may lie beyond the window by one of their times, and were announced as well.
  const came = accountedFor(summary)
  const [count, held] = isDrop(came, announced) ? [came, announced] : [found.count, Math.max(before, inserted)]
  if (!isDrop(count, held)) return { ...verdict, isDrop: false }
  const now = new Date(clock.now())
  // What came, as the ledger has it of earlier readings, also where some of it lies beyond the window.
  const drop = { ...placeOf(slice), window, found: summary.distinct, most: summary.distinct / SMALLEST_SHARE, now }
  const began = { ...stream, timeColumns: stream.timeColumns.slice(0, 1) }
  for (const read of await findAgreeing(db, drop)) {
    // A reading of a part agrees only if nearly all of the expected rows began there.
    const there = read ? await countEarlier(db, { ...part, stream: began, window: read }, runId) : { before: held }
    if (there.before >= held * SMALLEST_SHARE) return { ...verdict, isDrop: true }
  }
  const few = `only ${count} rows came where there were ${held}`
  const reason = `${few}; they count once a reading at least an hour later agrees`
  return { proof: 'short', reason, isDrop: true, missingRows: held - count }
}

/** Makes a shortfall `accepted` where an operator has accepted one of at least this size, until that expires. */
export async function acceptShortfall(
  { stream, partition, window }: Slice,
  verdict: FullVerdict,
  { db, clock, runId }: RunDeps,
): Promise<FullVerdict> {
  const { proof, missingRows = 0 } = verdict
  if (proof !== 'short' || missingRows <= 0) return verdict
  const channelId = partition.channel ?? null
  const now = new Date(clock.now())
  const acceptanceId = await chargeAcceptance(db, { stream: stream.name, channelId, window, missingRows, runId, now })
  return acceptanceId === undefined ? verdict : { ...verdict, proof: 'accepted', acceptanceId }
}
