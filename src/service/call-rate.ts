/** Calls that ended within the second of `atMs`, milliseconds since 1970. */
export type Ended = Readonly<Record<'atMs' | 'answered' | 'refused', number>>

/** What is known of the calls of one endpoint. */
export interface GatePace {
  /** The first instant that is free. */
  readonly nextAtMs: number
  /** The calls a second that were last found to be its limit; 0 while all are refused. */
  readonly limit?: number | undefined
  readonly limitedAtMs: number
  /** What was so before it was found, with the share of calls that was refused then. */
  readonly before?: Pick<GatePace, 'limit' | 'limitedAtMs' | 'usual'> | undefined
  /** The share that is refused whatever the rate. */
  readonly usual?: number
  /** The last three seconds that are over, and those that are not. */
  readonly ended: readonly Ended[]
}

/** What all processes know of the pace of calls. */
export interface CallPace {
  readonly atMs: number
  readonly pausedUntilMs: number
  readonly gates: Readonly<Record<string, GatePace>>
}

/** A larger share is never refused whatever the rate (BBR: 50/256). */
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

/** How many of so many calls may be refused at that share: two standard errors more, or fewer. */
const mostOf = (share: number, calls: number, errors = 2) => share * calls + errors * Math.sqrt(share * calls)

/**
 * Two seconds in a row refuse more than one call and than is usual: the limit is the median of what they and the next
 * were answered, as calls may have been saved up in one, or a process held up, or their mean, where few are refused
 * (BBR's policers, ACM Queue 14(5), 2016). The lower rate is an experiment (PCC, Dong et al., NSDI 2015): while it is
 * refused as much, all is as before, and that share is usual. A limit of nothing ends with the first answer.
 */
export function learn(kept: GatePace | undefined, ended: readonly Ended[], nowMs: number): GatePace {
  const known = kept ?? { nextAtMs: 0, limitedAtMs: 0, ended: [] }
  const { limit = Number.POSITIVE_INFINITY, limitedAtMs, before, usual = 0 } = known
  if (limit === 0 && ended.some(({ answered }) => answered > 0)) return { ...known, limit: undefined }
  const parts = [...known.ended, ...ended].filter(({ atMs }) => atMs >= limitedAtMs)
  const at = Math.floor(nowMs / 1000)
  const sum = (of: 'answered' | 'refused', from: number, to = from) =>
    parts.reduce((total, each) => total + (each.atMs >= from * 1000 && each.atMs < (to + 1) * 1000 ? each[of] : 0), 0)
  // A second is over when all processes have reported; the one in which a limit is found has calls that left before.
  const seconds = [at - 3, at - 2, at - 1, at].map((second) => {
    return { atMs: second * 1000, answered: sum('answered', second), refused: sum('refused', second) }
  })
  const [answered, refused] = [sum('answered', at - 3, at - 1), sum('refused', at - 3, at - 1)]
  const calls = answered + refused
  const share = refused / calls
  const isLight = refused - 1 <= POLICED * calls
  const busy = seconds.slice(0, 3).map((each) => each.answered + each.refused)
  const refuse = (share: number, errors?: number) =>
    seconds.slice(0, 2).every((each, index) => each.refused - 1 > mostOf(share, busy[index] ?? 0, errors))
  // A pause, or a process that was held up, makes a second look poor.
  const isPoliced = refuse(POLICED, 0) || (2 * Math.min(...busy) > Math.max(...busy) && refuse(usual))
  const isTried = before && nowMs >= limitedAtMs + 3000 && nowMs < limitedAtMs + HOLD_MS
  const median = seconds.slice(0, 3).toSorted((a, b) => a.answered - b.answered)[1]?.answered ?? 0
  const found = isLight ? Math.max(median, Math.round(answered / 3)) : median
  let learnt: Partial<GatePace> = {}
  // What waits for the ceiling has passed at the rate before: nothing is tried until it has left.
  if (isTried && busy.some((calls) => calls > limit)) learnt = {}
  else if (isTried && isLight && refused > Math.max(1, mostOf(before.usual ?? 0, calls, -2)))
    learnt = { limit: undefined, ...before, usual: share, before: undefined }
  else if (isPoliced)
    learnt = { limit: found, limitedAtMs: (at + 1) * 1000, before: { limit: known.limit, limitedAtMs, usual: share } }
  else if (refused < mostOf(usual, calls, -2)) learnt = { usual: share }
  return { ...known, ...learnt, ended: seconds.filter(({ answered, refused }) => answered + refused > 0) }
}
