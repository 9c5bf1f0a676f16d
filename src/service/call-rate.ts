/** How many calls were answered and refused within the second `at`, counted from the cell's start. */
export interface Second {
  readonly at: number
  answered: number
  refused: number
}

/** What is known of the calls of one endpoint. */
export interface GatePace {
  /** The first instant that is free. */
  readonly nextAtMs: number
  /** The calls a second that were last found to be its limit. */
  readonly limit?: number
  readonly limitedAtMs: number
  /** What was answered in the last second if it was policed. */
  readonly policed?: number
  /** There were only refusals. */
  readonly isClosed: boolean
  readonly judgedAt: number
  /** Not judged yet. */
  readonly seconds: readonly Second[]
}

/** What all processes know of the pace of calls. */
export interface CallPace {
  readonly atMs: number
  readonly pausedUntilMs: number
  readonly gates: Readonly<Record<string, GatePace>>
}

/** A second that loses a larger share, and more than one call, is policed; less is no matter of the rate. */
const POLICED = 0.2
/** The rate is so much below the limit, and rises by as much a second after `HOLD_MS`, until it meets a limit again. */
const MARGIN = 0.03
const HOLD_MS = 120_000
/** What other processes report of a second comes within so long after its end. */
const SETTLE_MS = 500
const FORGET_MS = 600_000

/** @returns nothing known for what is older than ten minutes, or of a clock that was ahead */
export function parseCallPace(value: unknown, nowMs: number): CallPace {
  const isCurrent = isPace(value) && value.atMs > nowMs - FORGET_MS && value.atMs <= nowMs + SETTLE_MS
  return isCurrent ? value : { atMs: nowMs, pausedUntilMs: 0, gates: {} }
}

/** What is kept was written by `createPermits` alone, of another version at most. */
function isPace(value: unknown): value is CallPace {
  return typeof value === 'object' && value !== null && 'gates' in value && 'atMs' in value
}

/** Calls a second that may leave now, at least one; infinite while nothing is known to limit them. */
export function rateAt({ limit = Number.POSITIVE_INFINITY, limitedAtMs, isClosed }: GatePace, nowMs: number): number {
  const risingSeconds = Math.max(0, nowMs - limitedAtMs - HOLD_MS) / 1000
  return isClosed ? 1 : Math.max(1, limit * (1 - MARGIN) * (1 + MARGIN) ** risingSeconds)
}

const nothingKnown: GatePace = { nextAtMs: 0, limitedAtMs: 0, isClosed: false, judgedAt: 0, seconds: [] }

/**
 * Finds the limit as BBR finds a policer: the long-term sampling of its version 1 (Cardwell et al., "BBR:
 * Congestion-Based Congestion Control", ACM Queue 14(5), 2016; Flach et al., "An Internet-Wide Analysis of Traffic
 * Policing", SIGCOMM 2016). Two seconds in a row that lose over a fifth: the limit is what both of them delivered at
 * least; in the former, calls may have been saved up.
 */
export function learn(known = nothingKnown, report: readonly Second[], nowMs: number): GatePace {
  const isDue = ({ at }: Second): boolean => (at + 1) * 1000 + SETTLE_MS <= nowMs
  const seconds = [...known.seconds, ...report].filter(({ at }) => at > known.judgedAt)
  const due = [...Map.groupBy(seconds.filter(isDue), ({ at }) => at)].sort(([a], [b]) => a - b)
  const judged = due.reduce((sum, [at, parts]) => judge(sum, at, parts, nowMs), known)
  return { ...judged, seconds: seconds.filter((each) => !isDue(each)) }
}

function judge({ policed, ...before }: GatePace, judgedAt: number, parts: readonly Second[], nowMs: number): GatePace {
  const sum = (count: 'answered' | 'refused'): number => parts.reduce((total, part) => total + part[count], 0)
  const [answered, refused] = [sum('answered'), sum('refused')]
  // That says nothing of the rate: single calls find out when it ends.
  if (answered === 0) return { ...before, judgedAt, isClosed: before.isClosed || refused > 1 }
  const known = { ...before, judgedAt, isClosed: false }
  // What ends in the second after a change may have left before it.
  const mayBeLate = judgedAt * 1000 < before.limitedAtMs + 1000
  if (mayBeLate || refused - 1 <= POLICED * (answered + refused)) return known
  const isInRow = (judgedAt - before.judgedAt) * 1000 <= HOLD_MS
  if (policed === undefined || !isInRow) return { ...known, policed: answered }
  return { ...known, limit: Math.min(policed, answered), limitedAtMs: nowMs }
}
