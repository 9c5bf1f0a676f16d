/** How a call ended: `paused` is a refusal until a time that the service named. */
export type Ending = 'answered' | 'refused' | 'paused'
/** How many calls ended how within the second `at`. */
export type Second = { readonly at: number } & Record<Ending, number>
/**
 * What is known of the calls of one endpoint: the first instant that is free; the calls a second that were last found
 * to be its limit; what was answered in the last second if it was policed; whether it had only refusals; and the
 * seconds not judged yet.
 */
export interface GatePace {
  readonly nextAtMs: number
  readonly limit?: number
  readonly limitedAtMs: number
  readonly policed?: number
  readonly isClosed: boolean
  readonly judgedAt: number
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
/** Two seconds are in a row where no more lies between them than the longest pause. */
const LONGEST_GAP_SECONDS = 65

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

/**
 * Finds the limit as BBR finds a policer: the long-term sampling of its version 1 (Cardwell et al., "BBR:
 * Congestion-Based Congestion Control", ACM Queue 14(5), 2016; Flach et al., "An Internet-Wide Analysis of Traffic
 * Policing", SIGCOMM 2016). Two seconds in a row that lose over a fifth: the limit is what both of them delivered at
 * least.
 */
export function learn(before: GatePace | undefined, report: readonly Second[], nowMs: number): GatePace {
  const known = before ?? { nextAtMs: 0, limitedAtMs: 0, isClosed: false, judgedAt: 0, seconds: [] }
  const isDue = ({ at }: Second): boolean => (at + 1) * 1000 + SETTLE_MS <= nowMs
  const seconds = [...known.seconds, ...report].filter(({ at }) => at > known.judgedAt).sort((a, b) => a.at - b.at)
  const judged = [...Map.groupBy(seconds.filter(isDue), ({ at }) => at).values()].reduce(
    (sum, parts) => judge(sum, parts, nowMs),
    known,
  )
  return { ...judged, seconds: seconds.filter((each) => !isDue(each)) }
}

function judge({ policed, ...known }: GatePace, parts: readonly Second[], nowMs: number): GatePace {
  const sum = (count: keyof Second): number => parts.reduce((total, part) => total + part[count], 0)
  const judgedAt = parts[0]?.at ?? known.judgedAt
  const [answered, refused, paused] = [sum('answered'), sum('refused'), sum('paused')]
  // That says nothing of the rate: single calls find out when it ends.
  if (answered === 0) return { ...known, judgedAt, isClosed: known.isClosed || refused > 1 }
  const opened = { ...known, judgedAt, isClosed: false }
  // What ends in the second after a change may have left before it.
  if (judgedAt * 1000 < known.limitedAtMs + 1000) return opened
  const lost = refused + paused
  if (lost - 1 <= POLICED * (answered + lost)) return opened
  const isNext = judgedAt - known.judgedAt <= LONGEST_GAP_SECONDS
  if (policed === undefined || !isNext) return { ...opened, policed: answered }
  // In the former, calls may have been saved up; but what is answered between two pauses may lie in two seconds.
  const limit = paused > 0 ? Math.max(policed, answered) : Math.min(policed, answered)
  return { ...opened, limit, limitedAtMs: nowMs }
}
