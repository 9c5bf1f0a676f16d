import { isDeepStrictEqual } from 'node:util'
import type { Row } from '../core/column.ts'
import type { RejectedItem } from '../core/page.ts'
import { placeOf } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { duplicateItem, readDuplicates } from '../ledger/quarantine/quarantine.ts'
import { chargeAcceptance } from '../ledger/slices/acceptances.ts'
import { findAgreeingReadings } from '../ledger/slices/earlier-readings.ts'
import { countEarlierRows, findAbsent, rowKeyColumn } from '../store/load/table-part.ts'
import { fetchUnlessRefused, type SliceReading } from './page-reading.ts'
import type { Extraction, RunDeps, Slice, Verdict } from './slice-work.ts'
import { declaredText, type HeldRow, rowKey, rowsOf, type WalkSummary } from './walk.ts'

/** The number of different items that a walk brought. */
export function accountedFor({ distinct, rejected }: Pick<WalkSummary, 'distinct' | 'rejected'>): number {
  return distinct + rejected.length
}

/** Whether more rows came than the source's total, which is then wrong and proves nothing. */
export function exceedsTotal(summary: WalkSummary): boolean {
  return summary.totals !== undefined && accountedFor(summary) > summary.totals.largest
}

/**
 * Judges one walk by itself. It is `verified` if the source's total was the same in every answer, the distinct rows and
 * quarantined items add up to it, and no more items came. That proves only the count. If more items came, some of them
 * twice, the total may be wrong and other rows may be missing.
 */
export function judgeWalk({ totals, received, distinct, rejected }: WalkSummary): Verdict {
  if (totals === undefined) return { proof: 'unverifiable', reason: undefined }
  const { first, smallest, largest } = totals
  if (smallest !== largest)
    return { proof: 'moving', reason: `the source's total varied between ${smallest} and ${largest} while it was read` }
  const accounted = distinct + rejected.length
  if (accounted === first && received === first) return { proof: 'verified', reason: undefined }
  if (accounted > first) {
    const reason = `the source says ${first}, but ${accounted} rows came, so its total is wrong`
    return { proof: 'moving', reason, isStill: accounted < received }
  }
  const came = `${distinct} distinct and ${rejected.length} quarantined rows came, ${received - accounted} came twice`
  if (received < first) return { proof: 'short', reason: `the source says ${first}, but ${came}` }
  return { proof: 'moving', reason: `the source says ${first}; ${came}`, isStill: true }
}

/**
 * Judges a whole list whose number of rows may be the most that the service counts and serves. If it can be reversed,
 * its first page in that order shows rows that did not come; it is then short by at least these.
 */
export async function judgeHidden(extraction: Extraction, { pages, readItem }: SliceReading): Promise<Extraction> {
  const { totals } = extraction.summary
  if (totals === undefined || pages.list.stream.wire.reversed === undefined) return extraction
  const page = await fetchUnlessRefused({ ...pages, list: { ...pages.list, isReversed: true } }, 1)
  // If the list has grown meanwhile, the page also shows new rows.
  if ('refusal' in page || page.total !== totals.largest) return extraction
  const hidden = rowsOf(page, readItem).filter((row) => !extraction.found.has(rowKey(pages.list.stream)(row))).length
  if (hidden === 0) return extraction
  const start = `the source says ${totals.largest}, and as many came, but in reverse order it starts with`
  const reason = `${start} ${hidden} other rows: it limits how many it serves, or some left meanwhile`
  const summary = { ...extraction.summary, totals: { ...totals, largest: totals.largest + hidden } }
  return { ...extraction, summary, verdict: { proof: 'short', reason } }
}

/** How often an unproven slice is read, if each reading is judged by itself. */
export const MAX_READINGS = 3
/** How often a slice is read that cannot be cut and brings rows twice each time: its walks together may bring all. */
export const MAX_WALKS = 10

/** Whether another reading would prove no more, so that a row that did not come is not at the source. */
export function isConclusive({ proof }: Pick<FullVerdict, 'proof'>): boolean {
  return proof === 'verified' || proof === 'unverifiable'
}

/**
 * Judges a walk together with the previous one. Rows with equal keys are real duplicates only if two successive walks
 * show the same keys more than once, with the same differing contents: a row that a moving list shifts comes twice
 * unchanged, and a row that changes does not come in the same way again. Equal unreadable items on two pages are two
 * items only if both walks show them equally often among the same keys, on pages of different sizes.
 * @param isSameElsewhere whether both walks brought the same keys, on pages of different sizes
 */
export function judgeWalks(summary: WalkSummary, previous: WalkSummary | undefined, isSameElsewhere: boolean): Verdict {
  const verdict = judgeWalk(summary)
  const { totals, received, repeated, rejectedAgain } = summary
  const isStill = totals !== undefined && totals.smallest === totals.largest && received === totals.first
  if (verdict.proof !== 'moving' || !isStill || repeated.length > 0 || previous === undefined) return verdict
  const haveSameRejected = () => isDeepStrictEqual(rejectedTexts(summary), rejectedTexts(previous))
  if (rejectedAgain.length > 0 && !(isSameElsewhere && haveSameRejected())) return verdict
  const groups = contentsOfRepeated(summary)
  const areDifferent = groups.every((contents) => new Set(contents).size === contents.length)
  if (!areDifferent || JSON.stringify(groups) !== JSON.stringify(contentsOfRepeated(previous))) return verdict
  return { proof: 'verified', reason: undefined }
}

function rejectedTexts({ rejected, rejectedAgain }: WalkSummary): readonly string[] {
  return [...rejected, ...rejectedAgain].map(({ raw }) => raw).sort()
}

/** The contents of each key that came more than once, as sorted texts, in the order of the keys. */
function contentsOfRepeated({ held }: WalkSummary): readonly (readonly string[])[] {
  const groups = [...held].filter(([, rows]) => rows.length > 1).sort(([a], [b]) => (a < b ? -1 : 1))
  return groups.map(([, rows]) => rows.map(({ row }) => declaredText(row)).sort())
}

/** Counts the rows that there may be beside one per key, because some keys came with different contents. */
export function countOthers(summary: WalkSummary): number {
  return contentsOfRepeated(summary).reduce((sum, contents) => sum + new Set(contents).size - 1, 0)
}

/** The freshest row of each key that was held back. The order of arrival does not matter. */
export function freshestOf(stream: Stream, held: WalkSummary['held']): readonly Row[] {
  return [...held.values()].flatMap((rows) => freshestFirst(stream, rows).slice(0, 1)).map(({ row }) => row)
}

/** The other rows of each key that was held back, for quarantine. */
export function duplicatesOf(stream: Stream, held: WalkSummary['held']): readonly RejectedItem[] {
  const path = keyField(stream)
  return [...held.values()].flatMap((rows) => {
    const [, ...others] = freshestFirst(stream, rows)
    return others.map(({ raw }) => duplicateItem(raw, path, rows.length))
  })
}

/** The source field of the key column. */
export function keyField(stream: Stream): string {
  const source = stream.columns[rowKeyColumn(stream)]?.source
  return source?.kind === 'field' ? source.field : ''
}

/** Reads the keys that had real duplicates in an earlier reading of the list. */
export async function readRepeatedKeys(slice: Slice, { db }: RunDeps): Promise<readonly string[]> {
  const source = slice.stream.columns[rowKeyColumn(slice.stream)]?.source
  const values = await readDuplicates(db, placeOf(slice))
  return values.map((value) => String(source?.kind === 'field' ? source.parse(value) : value))
}

function freshestFirst({ freshnessColumn }: Stream, rows: readonly HeldRow[]): readonly HeldRow[] {
  const freshness = ({ row, raw }: HeldRow) => [String(row[freshnessColumn ?? ''] ?? ''), raw].join('\u0000')
  return rows.toSorted((a, b) => (freshness(a) < freshness(b) ? 1 : -1))
}

export interface FullVerdict {
  readonly proof: Verdict['proof'] | 'accepted' | 'failed'
  readonly reason: string | undefined
  /** Whether surprisingly few rows were found, even if an earlier reading agrees. */
  readonly isDrop: boolean
  readonly missingRows?: number
  readonly acceptanceId?: string
}

interface Finding {
  readonly verdict: Verdict
  readonly found: Extraction['found']
  readonly summary: Pick<Extraction['summary'], 'totals' | 'distinct' | 'rejected'>
}

/** A drop is not judged if this many rows or fewer are expected. */
const MIN_HELD = 20
/** A reading with a smaller share of the expected rows has surprisingly few. */
const MIN_SHARE = 0.9

/** Whether there are surprisingly few rows for the expected number. */
export function isDrop(rows: number, expected: number): boolean {
  return expected > MIN_HELD && rows < expected * MIN_SHARE
}

/**
 * Compares the rows of a reading with those that the warehouse held before, or those of the last reading if it is of a
 * whole list whose rows are never marked as removed. A sudden drop, such as an empty answer, is never green at once,
 * whatever the source's total says.
 * @param lastWalk the rows of the last reading of a whole list; undefined for windows, and before the first reading
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
  const earlier = await countEarlierRows(db, part, runId)
  const before = window !== undefined || stream.marksRemoved ? earlier.before : (lastWalk ?? 0)
  // A conclusive walk must also bring what an earlier walk of this run inserted, and as many rows as were announced.
  const [inserted, announced] = isConclusive(verdict) ? [earlier.inserted, slice.announced ?? 0] : [0, 0]
  // The announced number includes rows that lie outside of the window by one of their times.
  const came = accountedFor(summary)
  const isFewer = isDrop(came, announced)
  const [count, expected] = isFewer ? [came, announced] : [found.count, Math.max(before, inserted)]
  if (!isDrop(count, expected)) return { ...verdict, isDrop: false }
  // The visits of viewers who stay may end after the window by now, and yet have come.
  const absent = isFewer ? undefined : await findAbsent(db, part, found.has)
  if (absent && !isDrop(expected - absent.length, expected)) return { ...verdict, isDrop: false }
  const now = new Date(clock.now())
  // Compared by distinct rows, as the ledger records them, even if some lie outside of the window.
  const drop = { ...placeOf(slice), window, found: summary.distinct, most: summary.distinct / MIN_SHARE, now }
  const began = { ...stream, timeColumns: stream.timeColumns.slice(0, 1) }
  for (const read of await findAgreeingReadings(db, drop)) {
    // A reading of a part of the window agrees only if nearly all expected rows began in that part.
    const there = read
      ? await countEarlierRows(db, { ...part, stream: began, window: read }, runId)
      : { before: expected }
    if (there.before >= expected * MIN_SHARE) return { ...verdict, isDrop: true }
  }
  const evidence = `only ${count} rows came where there were ${expected}`
  const reason = `${evidence}; they count once a reading at least an hour later agrees`
  return { proof: 'short', reason, isDrop: true, missingRows: expected - count }
}

/** Makes a shortfall `accepted` if an operator's acceptance covers its size and has not expired. */
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
