/** Calls that ended within the second of `atMs`, milliseconds since 1970. */
export type EndedCalls = Readonly<Record<'atMs' | 'calls' | 'refused', number>>

interface GatePace {
  /** The first instant that is free. */
  readonly nextAtMs: number
  /** The calls a second that were last found to be its limit; 0 while all are refused. */
  readonly limit?: number | undefined
  readonly limitedAtMs: number
  /** What was known before this limit was found; `usual` is the share of calls that was refused at that moment. */
  readonly before?: Pick<GatePace, 'limit' | 'limitedAtMs' | 'usual'> | undefined
  /** The share that is refused whatever the rate. */
  readonly usual?: number
  /** By the second: the last three that are over, and the current one. */
  readonly ended: readonly EndedCalls[]
}

interface CallPace {
  /** When it was first kept: another instant tells that it was lost. */
  readonly begunMs: number
  readonly atMs: number
  readonly pausedUntilMs: number
  readonly gates: Readonly<Record<string, GatePace>>
}

/** Where a larger share is refused, it is always because of the rate (BBR: 50/256). */
const POLICED = 0.2
/** The rate stays this share below a limit for `HOLD_MS`, then rises by as much each second until it meets a limit. */
export const MARGIN = 0.05
const HOLD_MS = 120_000
/** What was found is forgotten after this time. */
export const FORGET_MS = 600_000

/** @returns an empty pace for one that is older than ten minutes, from the future, or of another livehouse version */
export function parseCallPace(value: unknown, nowMs: number): CallPace {
  const { begunMs = 0, atMs = 0, pausedUntilMs = 0, gates = {} }: Partial<CallPace> = Object(value)
  const isCurrent = atMs > nowMs - FORGET_MS && atMs <= nowMs + 1000
  const isOurs = Object.values(gates).every(({ ended }) => Array.isArray(ended))
  if (isCurrent && isOurs) return { begunMs, atMs, pausedUntilMs, gates }
  return { begunMs: nowMs, atMs: nowMs, pausedUntilMs: 0, gates: {} }
}

/** Calls a second that may leave now, at least one; infinite while nothing is known to limit them. */
export function rateAt({ limit = Number.POSITIVE_INFINITY, limitedAtMs }: GatePace, nowMs: number): number {
  return Math.max(1, limit * (1 - MARGIN) * (1 + MARGIN) ** (Math.max(0, nowMs - limitedAtMs - HOLD_MS) / 1000))
}

/** The most of these calls that are refused by chance where a share of all is; the least where `errors` is negative. */
const mostByChance = (share: number, calls: number, errors = 2) => share * calls + errors * Math.sqrt(share * calls)

/**
 * Finds a limit where two seconds in a row refuse more than one call, and more than is usual: the median of the
 * calls answered in these and the next second (a service may let saved-up calls pass in one, or a process may have been
 * held up), or their mean where few are refused (BBR's policers, ACM Queue 14(5), 2016). Each limit is an experiment
 * (PCC, Dong et al., NSDI 2015): where as many calls are refused below it, it is dropped, and that share is usual. A
 * limit of 0 ends with the first answer.
 */
export function estimateRateLimit(kept: GatePace | undefined, ended: readonly EndedCalls[], nowMs: number): GatePace {
  const known = kept ?? { nextAtMs: 0, limitedAtMs: 0, ended: [] }
  const { limit = Number.POSITIVE_INFINITY, limitedAtMs, usual = 0 } = known
  if (limit === 0 && ended.some(({ calls, refused }) => calls > refused)) return { ...known, limit: undefined }
  // The second in which a limit was found does not count: some of its calls had left before.
  const parts = [...known.ended, ...ended].filter(({ atMs }) => atMs >= limitedAtMs)
  const sum = (of: 'calls' | 'refused', from: readonly EndedCalls[]) =>
    from.reduce((total, each) => total + each[of], 0)
  const at = Math.floor(nowMs / 1000)
  const seconds = [at - 3, at - 2, at - 1, at].map((second) => {
    const within = parts.filter(({ atMs }) => Math.floor(atMs / 1000) === second)
    return { atMs: second * 1000, calls: sum('calls', within), refused: sum('refused', within) }
  })
  const next = { ...known, ended: seconds.filter(({ calls }) => calls > 0) }
  const over = seconds.slice(0, 3)
  const [calls, refused] = [sum('calls', over), sum('refused', over)]
  const isLight = refused - 1 <= POLICED * calls
  const isTried = known.before && nowMs >= limitedAtMs + 3000 && nowMs < limitedAtMs + HOLD_MS
  // Calls that wait for the ceiling passed their gate at the old rate: nothing is concluded until they have left.
  if (isTried && over.some((each) => each.calls > limit)) return next
  if (isTried && isLight && refused > Math.max(1, mostByChance(known.before.usual ?? 0, calls, -2)))
    return { ...next, limit: undefined, ...known.before, usual: refused / calls, before: undefined }
  const refuse = (share: number, errors?: number) =>
    over.slice(0, 2).every((each) => each.refused - 1 > mostByChance(share, each.calls, errors))
  // After a pause, or where a process was held up, a second has few calls and says little.
  const isSteady = over.every((each) => over.every((other) => 2 * each.calls > other.calls))
  if (refuse(POLICED, 0) || (isSteady && refuse(usual))) {
    const [, median = 0] = over.map((each) => each.calls - each.refused).toSorted((a, b) => a - b)
    const found = isLight ? Math.max(median, Math.round((calls - refused) / 3)) : median
    const before = { limit: known.limit, limitedAtMs, usual: refused / calls }
    return { ...next, limit: found, limitedAtMs: (at + 1) * 1000, before }
  }
  return refused < mostByChance(usual, calls, -2) ? { ...next, usual: refused / calls } : next
}
