import {
  accountedFor,
  duplicatesOf,
  type Extraction,
  isConclusive,
  judgeWalks,
  MOST_READINGS,
  type Verdict,
} from './judge-walk.ts'
import type { Slice } from './slice-work.ts'
import type { KeySet, WalkSummary } from './walk.ts'
import { mayBeHalved } from './windows.ts'

/** What all walks over a slice have brought together; `keys` are undefined before the first has come to its end. */
export interface AllWalks {
  keys: KeySet | undefined
  distinct: number
  /** Of the slice. */
  count: number
  /** Whether the list was the same in all of them. */
  isStill: boolean
  /** The smallest total that was told, 0 where it is known to count rows twice, and the largest one. */
  fewest: number
  most: number
}

/** A walk that has come to its end. */
export interface WalkEnd extends WalkSummary {
  readonly keys: KeySet
  /** Rows of the slice. */
  readonly count: number
  /** Items of the largest page. */
  readonly largest: number
}

/** Judges a walk together with those before it, and adds it to them. */
export function judgeTogether(
  end: WalkEnd,
  previous: WalkEnd | undefined,
  all: AllWalks,
  { attempt, beyondTotal, window }: Pick<Slice, 'window'> & Readonly<Record<'attempt' | 'beyondTotal', number>>,
) {
  const { totals, received, distinct, repeatsOnPage, rejected, held, keys, count, largest } = end
  const isUntrue = beyondTotal > (totals?.largest ?? 0)
  // A total known to be wrong counts as none: then the rows that came show how many there are.
  const announced = isUntrue ? received : (totals?.last ?? 0)
  all.fewest = Math.min(all.fewest, totals?.smallest ?? 0)
  all.most = Math.max(all.most, totals?.largest ?? 0)
  if (all.keys === undefined) Object.assign(all, { keys, distinct, count })
  const isSame = distinct === all.distinct && distinct === previous?.distinct
  const isSameElsewhere = isSame && largest !== previous.largest
  const alone = judgeWalks(end, previous, isSameElsewhere)
  const why = `the source says ${totals?.last}, but ${beyondTotal} rows came before: its total is not true`
  const ofWalk: Verdict = isUntrue && isConclusive(alone) ? { proof: 'moving', reason: why, isStill: true } : alone
  all.isStill &&= ofWalk.isStill === true && (previous === undefined || previous.totals?.first === totals?.first)
  // Where more came than was announced, the total counts rows that are there twice only once.
  const isMoreThanTotal = received > announced
  const missing = () => announced - all.distinct - (isMoreThanTotal ? 0 : repeatsOnPage) - rejected.length
  for (const key of held.keys()) if (all.keys?.add(key)) all.distinct++
  // Then it counts only once pages of another size bring the same rows, or if all came on one page. Otherwise rows
  // with equal keys are left to `judgeWalks` first, which finds real duplicates by two walks that bring them alike.
  const isSure = isMoreThanTotal
    ? isSameElsewhere || largest === received
    : repeatsOnPage === 0 || attempt >= MOST_READINGS
  const isProvable = window !== undefined || isMoreThanTotal
  const isWhole = isProvable && all.isStill && !isUntrue && missing() === 0 && isSure
  const verdict: Verdict = isWhole ? { proof: 'verified', reason: undefined } : ofWalk
  /** `missing`: how many of the announced rows no walk has brought so far. */
  return { verdict, ofWalk, isUntrue, announced, missing }
}

/** What the last walk, or all of them together, have found of a slice. */
export function conclude(
  { stream, window, covers }: Slice,
  end: WalkEnd,
  all: AllWalks,
  judged: ReturnType<typeof judgeTogether> & { readonly attempt: number },
): Omit<Extraction, 'channelFacts'> {
  const { verdict, ofWalk, isUntrue, announced, missing, attempt } = judged
  const isAgain = isConclusive(ofWalk) && accountedFor(end) < announced
  const duplicates = isConclusive(ofWalk) ? duplicatesOf(stream, end.held) : []
  // Rows too young to count as covered are read again in any case.
  const isClaimed = window === undefined || covers !== undefined
  const came = all.distinct + end.rejected.length + end.repeatsOnPage
  // As many as the total moved by may have come or gone since.
  const least = all.fewest - (all.most - all.fewest)
  const isFew = isClaimed && !isUntrue && verdict.proof === 'moving' && !verdict.isStill && came < least
  const isJoined = ofWalk.isStill === true || isFew
  const rejected = [...end.rejected, ...(isAgain ? end.rejectedAgain : []), ...duplicates]
  const summary = { ...end, distinct: isJoined ? all.distinct : end.distinct, rejected }
  const { count, keys } = isJoined && all.keys ? { ...all, keys: all.keys } : end
  const isLacking = isClaimed && !isUntrue && verdict.isStill === true && missing() > 0
  const rows = `${summary.distinct} distinct and ${rejected.length} quarantined rows`
  const reason = `the source says ${announced}, but ${rows} came in ${attempt} readings, some of them twice in each`
  // A minute is all that is left to read again; a longer range may lack rows of which nothing tells.
  const isDoubtful = isClaimed && isUntrue && mayBeHalved(window)
  const unsure: Verdict = isDoubtful ? { proof: 'short', reason: verdict.reason, isAtRest: false } : verdict
  const few = `the source says ${all.fewest} or more, but ${came} rows came in ${attempt} readings`
  const ofAll: Verdict = isFew ? { proof: 'short', reason: few, isAtRest: false } : unsure
  const proven: Verdict = isLacking ? { proof: 'short', reason } : ofAll
  return { summary, verdict: proven, title: undefined, found: { count, has: keys.has } }
}
