/** How many calls were answered and refused within the second `at` since 1970. */
export interface Second {
  readonly at: number
  readonly answered: number
  readonly refused: number
}

/** What is known of the calls of one endpoint. */
export interface GatePace {
  /** The first instant that is free. */
  readonly nextAtMs: number
  /** The calls a second that were last found to be its limit. */
  readonly limit?: number
  readonly limitedAtMs: number
  /** There were only refusals. */
  readonly isClosed: boolean
  /** The last two that are over, and those that are not. */
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

/** @returns nothing known for what is older than ten minutes, of a clock that was ahead, or of another version */
export function parseCallPace(value: unknown, nowMs: number): CallPace {
  const isCurrent = isPace(value) && value.atMs > nowMs - FORGET_MS && value.atMs <= nowMs + SETTLE_MS
  return isCurrent ? value : { atMs: nowMs, pausedUntilMs: 0, gates: {} }
}

function isPace(value: unknown): value is CallPace {
  return typeof value === 'object' && value !== null && 'gates' in value && 'atMs' in value
}

/** Calls a second that may leave now, at least one; infinite while nothing is known to limit them. */
export function rateAt({ limit = Number.POSITIVE_INFINITY, limitedAtMs, isClosed }: GatePace, nowMs: number): number {
  const risingSeconds = Math.max(0, nowMs - limitedAtMs - HOLD_MS) / 1000
  return isClosed ? 1 : Math.max(1, limit * (1 - MARGIN) * (1 + MARGIN) ** risingSeconds)
}

const nothingKnown: GatePace = { nextAtMs: 0, limitedAtMs: 0, isClosed: false, seconds: [] }

/**
 * Finds the limit as BBR finds a policer: the long-term sampling of its version 1 (Cardwell et al., "BBR:
 * Congestion-Based Congestion Control", ACM Queue 14(5), 2016; Flach et al., "An Internet-Wide Analysis of Traffic
 * Policing", SIGCOMM 2016). Two seconds in a row that lose over a fifth: the limit is what both of them delivered at
 * least; in the former, calls may have been saved up.
 */
export function learn(known = nothingKnown, ended: readonly Second[], nowMs: number): GatePace {
  const seconds = [...Map.groupBy([...known.seconds, ...ended], ({ at }) => at)]
    .map(([at, parts]) => ({ at, answered: sum(parts, 'answered'), refused: sum(parts, 'refused') }))
    .sort((a, b) => a.at - b.at)
  const firstOpen = Math.floor((nowMs - SETTLE_MS) / 1000)
  const over = seconds.filter(({ at }) => at < firstOpen).slice(-2)
  const last = over.at(-1)
  // Only refusals say nothing of the rate: single calls find out when they end.
  const isClosed = last ? last.answered === 0 && (known.isClosed || last.refused > 1) : known.isClosed
  const next = { ...known, isClosed, seconds: [...over, ...seconds.filter(({ at }) => at >= firstOpen)] }
  const sinceMs = Math.max(known.limitedAtMs, nowMs - HOLD_MS)
  const policed = over.filter(({ at }) => at * 1000 >= sinceMs).filter(isPoliced)
  if (policed.length < 2) return next
  return { ...next, limit: Math.min(...policed.map(({ answered }) => answered)), limitedAtMs: nowMs }
}

function isPoliced({ answered, refused }: Second): boolean {
  return answered > 0 && refused - 1 > POLICED * (answered + refused)
}

function sum(parts: readonly Second[], count: 'answered' | 'refused'): number {
  return parts.reduce((total, part) => total + part[count], 0)
}
