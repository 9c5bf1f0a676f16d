/** Calls that ended within the second of `atMs`, milliseconds since 1970. */
export interface Ended {
  readonly atMs: number
  readonly answered: number
  readonly refused: number
}

/** What is known of the calls of one endpoint. */
export interface GatePace {
  /** The first instant that is free. */
  readonly nextAtMs: number
  /** The calls a second that were last found to be its limit; 0 while all are refused. */
  readonly limit?: number | undefined
  readonly limitedAtMs: number
  /** The last two seconds that are over, and those that are not. */
  readonly ended: readonly Ended[]
}

/** What all processes know of the pace of calls. */
export interface CallPace {
  readonly atMs: number
  readonly pausedUntilMs: number
  readonly gates: Readonly<Record<string, GatePace>>
}

/** A second that loses more than this share, and than one call, is policed (BBR: 50/256). */
const POLICED = 0.2
/** The rate is so much below the limit, and rises by as much a second after `HOLD_MS`, until it meets a limit again. */
const MARGIN = 0.03
const HOLD_MS = 120_000
const FORGET_MS = 600_000

/** @returns nothing known for what is older than ten minutes, of a clock that was ahead, or of another version */
export function parseCallPace(value: unknown, nowMs: number): CallPace {
  const { atMs = 0, pausedUntilMs = 0, gates = {} }: Partial<CallPace> = Object(value)
  const isCurrent = atMs > nowMs - FORGET_MS && atMs <= nowMs + 1000
  const isOurs = Object.values(gates).every(({ ended }) => Array.isArray(ended))
  return isCurrent && isOurs ? { atMs, pausedUntilMs, gates } : { atMs: nowMs, pausedUntilMs: 0, gates: {} }
}

/** Calls a second that may leave now, at least one; infinite while nothing is known to limit them. */
export function rateAt({ limit = Number.POSITIVE_INFINITY, limitedAtMs }: GatePace, nowMs: number): number {
  const risingSeconds = Math.max(0, nowMs - limitedAtMs - HOLD_MS) / 1000
  return Math.max(1, limit * (1 - MARGIN) * (1 + MARGIN) ** risingSeconds)
}

/**
 * Finds the limit as BBR finds a policer: the long-term sampling of its version 1 (Cardwell et al., "BBR:
 * Congestion-Based Congestion Control", ACM Queue 14(5), 2016; Flach et al., "An Internet-Wide Analysis of Traffic
 * Policing", SIGCOMM 2016). Two seconds in a row that lose over a fifth: the limit is what both of them delivered at
 * least; in the former, calls may have been saved up. Where they delivered nothing, the first answer ends it.
 */
export function learn(kept: GatePace | undefined, ended: readonly Ended[], nowMs: number): GatePace {
  const known = kept ?? { nextAtMs: 0, limitedAtMs: 0, ended: [] }
  if (known.limit === 0 && ended.some(({ answered }) => answered > 0)) return { ...known, limit: undefined }
  // A second is over when all processes have reported; the one in which a limit is found has calls that left before.
  const overMs = (Math.floor(nowMs / 1000) - 1) * 1000
  const parts = [...known.ended, ...ended].filter(({ atMs }) => atMs >= Math.max(overMs - 2000, known.limitedAtMs))
  const seconds = [...Map.groupBy(parts, ({ atMs }) => Math.floor(atMs / 1000)).values()].map((second) =>
    second.reduce((a, b) => ({ atMs: a.atMs, answered: a.answered + b.answered, refused: a.refused + b.refused })),
  )
  const over = seconds.filter(({ atMs }) => atMs < overMs)
  const policed = over.filter(({ answered, refused }) => refused - 1 > POLICED * (answered + refused))
  if (policed.length < 2) return { ...known, ended: seconds }
  const limit = Math.min(...policed.map(({ answered }) => answered))
  return { ...known, limit, limitedAtMs: Math.ceil(nowMs / 1000) * 1000, ended: seconds }
}
