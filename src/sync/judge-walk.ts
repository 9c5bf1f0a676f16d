import { isDeepStrictEqual } from 'node:util'
import { placeOf } from '../core/slice.ts'
import { chargeAcceptance } from '../ledger/slices/acceptances.ts'
import { findAgreeingReadings } from '../ledger/slices/earlier-readings.ts'
import { countEarlierRows, findAbsent } from '../store/load/table-part.ts'
import type { SliceReading } from './slice-reading.ts'
import type { Extraction, FullVerdict, Slice, Verdict, WalkSummary } from './slice-work.ts'
import { declaredText, type KeySet } from './walk.ts'
import { isOfDay, mayBeHalved } from './windows.ts'

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
  if (totals === undefined) return { proof: 'unverifiable' }
  const { first, smallest, largest } = totals
  if (smallest !== largest)
    return { proof: 'moving', reason: `the source's total varied between ${smallest} and ${largest} while it was read` }
  const accounted = distinct + rejected.length
  if (accounted === first && received === first) return { proof: 'verified' }
  if (accounted > first) {
    const reason = `the source says ${first}, but ${accounted} rows came, so its total is wrong`
    return { proof: 'moving', reason, isStill: accounted < received }
  }
  const came = `${distinct} distinct and ${rejected.length} quarantined rows came, ${received - accounted} came twice`
  if (received < first) return { proof: 'short', reason: `the source says ${first}, but ${came}` }
  return { proof: 'moving', reason: `the source says ${first}; ${came}`, isStill: true }
}

/** The most walks of a reading if each walk is judged by itself. */
export const MAX_WALKS = 3
/** The most walks of a slice that cannot be cut and brings rows twice each time: together they may bring all. */
export const MAX_WALKS_TOGETHER = 10

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
function judgeWithPrevious(summary: WalkSummary, previous: WalkSummary | undefined, isSameElsewhere: boolean): Verdict {
  const verdict = judgeWalk(summary)
  const { totals, received, repeated, rejectedAgain } = summary
  const isStill = totals !== undefined && totals.smallest === totals.largest && received === totals.first
  if (verdict.proof !== 'moving' || !isStill || repeated.length > 0 || previous === undefined) return verdict
  const haveSameRejected = () => isDeepStrictEqual(rejectedTexts(summary), rejectedTexts(previous))
  if (rejectedAgain.length > 0 && !(isSameElsewhere && haveSameRejected())) return verdict
  const groups = contentsOfRepeated(summary)
  const areDifferent = groups.every((contents) => new Set(contents).size === contents.length)
  if (!areDifferent || JSON.stringify(groups) !== JSON.stringify(contentsOfRepeated(previous))) return verdict
  return { proof: 'verified' }
}

/** A walk over rows with a key that has ended. */
export interface KeyedWalkSummary extends WalkSummary, Pick<Extraction, 'minutes'> {
  readonly keys: KeySet
  /** Rows that lie in the slice. */
  readonly count: number
  /** The number of items on the largest page. */
  readonly largestPage: number
}

/** What all walks over a slice have brought together. */
export interface AllWalks {
  /** The keys of all walks; missing until the first one has ended. */
  keys?: KeySet
  distinct: number
  /** Rows that lie in the slice. */
  count: number
  /** Whether the list was the same in all walks. */
  isStill: boolean
  smallestTotal: number
  largestTotal: number
  /** The number of items on the largest page. The service serves pages of at least this size. */
  largestPage: number
  /** The most rows of any walk that brought more than its total. After it, smaller totals are not believed. */
  beyondTotal: number
  /** The last walk that was not proven and reached its end. */
  previous?: KeyedWalkSummary
}

/** What a walk proves together with the earlier ones. `ofWalk`: what it proves by itself, or with the previous one. */
export type Judgement = ReturnType<typeof judgeTogether>

/** Judges a walk together with the earlier ones, and adds it to `all`. */
export function judgeTogether(end: KeyedWalkSummary, all: AllWalks, attempt: number, isWindow: boolean) {
  const { totals, received, distinct, repeated, repeatsOnPage, heldBack, keys, count, largestPage } = end
  const { previous, beyondTotal } = all
  const isTotalWrong = beyondTotal > (totals?.largest ?? 0)
  // If the total is known to be wrong, the number of items that came is used in its place.
  const announced = isTotalWrong ? received : (totals?.last ?? 0)
  all.smallestTotal = Math.min(all.smallestTotal, totals?.smallest ?? 0)
  all.largestTotal = Math.max(all.largestTotal, totals?.largest ?? 0)
  if (all.keys === undefined) Object.assign(all, { keys, distinct, count })
  const isSame = distinct === all.distinct && distinct === previous?.distinct
  const isSameElsewhere = isSame && largestPage !== previous.largestPage
  const alone = judgeWithPrevious(end, previous, isSameElsewhere)
  const why = `the source says ${totals?.last}, but ${beyondTotal} rows came before, so its total is wrong`
  const ofWalk: Verdict = isTotalWrong && isConclusive(alone) ? { proof: 'moving', reason: why, isStill: true } : alone
  all.isStill &&= ofWalk.isStill === true && (previous === undefined || previous.totals?.first === totals?.first)
  for (const key of heldBack.keys()) if (all.keys?.add(key)) all.distinct++
  const hasMore = received > announced
  // As many different items as all walks must bring together.
  const needed = announced - (hasMore ? 0 : repeatsOnPage)
  // If more rows came than announced, the total may count rows that the list holds twice only once. That is believed
  // only if pages of another size bring the same rows, or all rows came on one page. Otherwise rows with equal keys are
  // first left to `judgeWithPrevious`, which finds real duplicates by comparing two walks.
  const isSure = hasMore
    ? repeated.length === 0 && (isSameElsewhere || largestPage === received)
    : repeatsOnPage === 0 || attempt >= MAX_WALKS
  const isProvable = isWindow || hasMore
  const isWhole = isProvable && all.isStill && !isTotalWrong && isSure && all.distinct + end.rejected.length === needed
  const verdict: Verdict = isWhole ? { proof: 'verified' } : ofWalk
  return { verdict, ofWalk, isTotalWrong, announced, needed, all, attempt }
}

/**
 * Judges a list by all its walks when the last one has not proven it and it is not cut: it is `short` if they show that
 * rows are missing, or if its total is wrong and so does not show it.
 * @returns undefined if another walk may prove more
 */
export function judgeAtEnd({ window, covers }: Slice, judged: Judgement, end: WalkSummary): Verdict | undefined {
  const { verdict, isTotalWrong, announced, needed, all, attempt } = judged
  if (isConclusive(verdict)) return verdict
  const mayComeYet = verdict.isStill === true && all.distinct + end.rejected.length < needed
  if (attempt < (mayComeYet ? MAX_WALKS_TOGETHER : MAX_WALKS)) return undefined
  // A slice that covers nothing is read again anyway, and need not be complete.
  const isClaimed = window === undefined || covers !== undefined
  if (!isClaimed || (verdict.proof === 'short' && !isTotalWrong)) return verdict
  // One minute cannot be cut further. A longer window with a wrong total may lack rows without a sign of it.
  if (isTotalWrong) return mayBeHalved(window) ? { proof: 'short', reason: verdict.reason, isAtRest: false } : verdict
  if (mayComeYet) {
    const rows = `${all.distinct} distinct and ${end.rejected.length} quarantined rows came`
    const reason = `the source says ${announced}, but ${rows}, some of them twice, when it was read ${attempt} times`
    return { proof: 'short', reason }
  }
  const others = contentsOfRepeated(end).reduce((sum, contents) => sum + new Set(contents).size - 1, 0)
  const came = all.distinct + end.rejected.length + end.repeatsOnPage + others
  // As many rows as the total moved by may have come or left meanwhile.
  if (verdict.isStill || came >= all.smallestTotal - (all.largestTotal - all.smallestTotal)) return verdict
  const reason = `the source says ${all.smallestTotal} or more, but ${came} rows came when it was read ${attempt} times`
  return { proof: 'short', reason, isAtRest: false }
}

function rejectedTexts({ rejected, rejectedAgain }: WalkSummary): readonly string[] {
  return [...rejected, ...rejectedAgain].map(({ raw }) => raw).sort()
}

/** The contents of each key that came more than once, as sorted texts, in the order of the keys. */
function contentsOfRepeated({ heldBack }: WalkSummary): readonly (readonly string[])[] {
  const groups = [...heldBack].filter(([, rows]) => rows.length > 1).sort(([a], [b]) => (a < b ? -1 : 1))
  return groups.map(([, rows]) => rows.map(({ row }) => declaredText(row)).sort())
}

type Finding = Pick<Extraction, 'verdict' | 'found'> & {
  readonly summary: Pick<WalkSummary, 'totals' | 'distinct' | 'rejected'>
}

/** A drop is not judged if this many rows or fewer are expected. */
const FEW_ROWS = 20
/** A reading with a smaller share of the expected rows has surprisingly few. */
const MIN_SHARE = 0.9

/** Whether there are surprisingly few rows for the expected number. */
export function isDrop(rows: number, expected: number): boolean {
  return expected > FEW_ROWS && rows < expected * MIN_SHARE
}

/**
 * Judges a reading in the end, compared with earlier ones and with what an operator has accepted. A sudden drop, such
 * as an empty answer, is never green at once, whatever the source's total says.
 */
export async function judgeReading(reading: SliceReading, finding: Finding): Promise<FullVerdict> {
  const { verdict, summary } = finding
  if (verdict.isAtRest === false) return verdict
  if (verdict.proof === 'short')
    return await acceptShortfall(reading, verdict, (summary.totals?.largest ?? 0) - accountedFor(summary))
  const drop = await findDrop(reading, finding)
  if (drop === undefined) return verdict
  const { count, expected } = drop
  if (await isDropConfirmed(reading, summary.distinct, expected)) return { ...verdict, isDrop: true }
  const evidence = `only ${count} rows came where there were ${expected}`
  const reason = `${evidence}; they count once a reading at least an hour later agrees`
  return await acceptShortfall(reading, { proof: 'short', reason, isDrop: true }, expected - count)
}

/**
 * Whether surprisingly few rows came, compared with those that the warehouse held before, or with those of the last
 * reading of a whole list whose rows are never marked as removed. @returns how many came, and how many were expected
 */
async function findDrop({ slice, deps, earlier: readEarlier }: SliceReading, { verdict, found, summary }: Finding) {
  const { stream, window } = slice
  const part = { ...slice, timeZone: deps.timeZone }
  const earlier = await countEarlierRows(deps.db, part, deps.runId)
  const before = window !== undefined || stream.marksRemoved ? earlier.before : ((await readEarlier()).lastRows ?? 0)
  // A conclusive walk must also bring what an earlier walk of this run inserted, and as many rows as were announced.
  const [inserted, announced] = isConclusive(verdict) ? [earlier.inserted, slice.announced ?? 0] : [0, 0]
  // The announced number includes rows that lie outside of the window by one of their times.
  const came = accountedFor(summary)
  const isFewer = isDrop(came, announced)
  const [count, expected] = isFewer ? [came, announced] : [found.count, Math.max(before, inserted)]
  const isFewRows = (rows: number) => isDrop(rows, expected) || (rows <= 0 && expected > 0 && isOfDay(stream))
  if (!isFewRows(count)) return undefined
  // The visits of viewers who stay may end after the window by now, and yet have come.
  const absent = isFewer ? undefined : await findAbsent(deps.db, part, found.has)
  return absent && !isFewRows(expected - absent.length) ? undefined : { count, expected }
}

/** Whether an earlier reading agrees. One of a part of the window does only if nearly all expected rows began there. */
async function isDropConfirmed({ slice, deps }: SliceReading, distinct: number, expected: number): Promise<boolean> {
  const { stream, window } = slice
  const { db, clock, timeZone, runId } = deps
  // Compared by distinct rows, as the ledger records them, even if some lie outside of the window.
  const drop = { ...placeOf(slice), window, found: distinct, most: distinct / MIN_SHARE, now: new Date(clock.now()) }
  const byBeginning = { ...stream, timeColumns: stream.timeColumns.slice(0, 1) }
  for (const agreeing of await findAgreeingReadings(db, drop)) {
    const part = { ...slice, stream: byBeginning, window: agreeing, timeZone }
    if (!agreeing || (await countEarlierRows(db, part, runId)).before >= expected * MIN_SHARE) return true
  }
  return false
}

/** Makes a shortfall `accepted` if an operator's acceptance covers its size and has not expired. */
async function acceptShortfall({ slice, deps }: SliceReading, verdict: FullVerdict, missingRows: number) {
  const { stream, partition, window } = slice
  const { db, clock, runId } = deps
  const channelId = partition.channel ?? null
  const now = new Date(clock.now())
  const shortfall = { stream: stream.name, channelId, window, missingRows, runId, now }
  const acceptanceId = missingRows > 0 ? await chargeAcceptance(db, shortfall) : undefined
  return { ...verdict, missingRows, ...(acceptanceId && ({ proof: 'accepted', acceptanceId } as const)) }
}
