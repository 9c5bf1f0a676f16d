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
  /** The last three seconds that are over, and those that are not. */
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
/** The rate is so much below a limit, and rises by as much a second after `HOLD_MS`, until it meets a limit again. */
export const MARGIN = 0.05
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
  return Math.max(1, limit * (1 - MARGIN) * (1 + MARGIN) ** (Math.max(0, nowMs - limitedAtMs - HOLD_MS) / 1000))
}

/**
 * Finds the limit as the long-term sampling of BBR's version 1 finds a policer (Cardwell et al., ACM Queue 14(5), 2016;
 * Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016). Two seconds in a row lose over a fifth:
 * the limit is the median of what they and the next one were answered, so far as that has been told: in one, calls may
 * have been saved up, in one, a process may have been held up. Where it is nothing, the first answer ends it.
 */
export function learn(before: GatePace | undefined, ended: readonly Ended[], nowMs: number): GatePace {
  const known = before ?? { nextAtMs: 0, limitedAtMs: 0, ended: [] }
  if (known.limit === 0 && ended.some(({ answered }) => answered > 0)) return { ...known, limit: undefined }
  const parts = [...known.ended, ...ended].filter(({ atMs }) => atMs >= known.limitedAtMs)
  const sum = (second: number, of: 'answered' | 'refused') =>
    parts.reduce((total, each) => total + (Math.floor(each.atMs / 1000) === second ? each[of] : 0), 0)
  // A second is over when all processes have reported; the one in which a limit is found has calls that left before.
  const seconds = [3, 2, 1, 0].map((back) => {
    const at = Math.floor(nowMs / 1000) - back
    return { atMs: at * 1000, answered: sum(at, 'answered'), refused: sum(at, 'refused') }
  })
  const isPoliced = seconds.slice(0, 2).every(({ answered, refused }) => refused - 1 > POLICED * (answered + refused))
  const [, median] = seconds.slice(0, 3).toSorted((a, b) => a.answered - b.answered)
  const found = isPoliced && { limit: median?.answered, limitedAtMs: Math.ceil(nowMs / 1000) * 1000 }
  return { ...known, ...found, ended: seconds.filter(({ answered, refused }) => answered + refused > 0) }
}
