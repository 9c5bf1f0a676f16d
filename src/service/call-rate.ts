/** How many calls ended at `atMs` (milliseconds) or within that second, and how many of them got a 429. */
export type EndedCalls = Readonly<Record<'atMs' | 'calls' | 'refused', number>>

interface GatePace {
  /** The first free instant. */
  readonly nextAtMs: number
  /** The limit that was last found, in calls per second; 0 while every call is refused. */
  readonly limit?: number | undefined
  readonly limitedAtMs: number
  /** The state before this limit was found; its `usual` is the share of calls refused at that moment. */
  readonly before?: Pick<GatePace, 'limit' | 'limitedAtMs' | 'usual'> | undefined
  /** The share of calls that the service refuses regardless of the rate. */
  readonly usual?: number
  /** One entry a second: the last three full seconds and the current one. */
  readonly ended: readonly EndedCalls[]
}

interface CallPace {
  /** When this pace was created: another value shows that the shared pace was lost and created anew. */
  readonly begunMs: number
  readonly atMs: number
  readonly pausedUntilMs: number
  readonly gates: Readonly<Record<string, GatePace>>
}

/** A larger share of refusals is always blamed on the rate (BBR: 50/256). */
const POLICED = 0.2
/** The rate stays this share below a limit for `HOLD_MS`, then rises by it each second until refusals return. */
export const MARGIN = 0.05
const HOLD_MS = 120_000
/** A shared pace is discarded if nothing has updated it for this long. */
export const FORGET_MS = 600_000

/** Reads a shared pace. @returns an empty one if it is too old, in the future, or of another version of livehouse */
export function parseCallPace(value: unknown, nowMs: number): CallPace {
  const { begunMs = 0, atMs = 0, pausedUntilMs = 0, gates = {} }: Partial<CallPace> = Object(value)
  const isCurrent = atMs > nowMs - FORGET_MS && atMs <= nowMs + 1000
  const isOurs = Object.values(gates).every(({ ended }) => Array.isArray(ended))
  if (isCurrent && isOurs) return { begunMs, atMs, pausedUntilMs, gates }
  return { begunMs: nowMs, atMs: nowMs, pausedUntilMs: 0, gates: {} }
}

/** The rate to call at, in calls per second: at least one, and infinite while no limit is known. */
export function rateAt({ limit = Number.POSITIVE_INFINITY, limitedAtMs }: GatePace, nowMs: number): number {
  return Math.max(1, limit * (1 - MARGIN) * (1 + MARGIN) ** (Math.max(0, nowMs - limitedAtMs - HOLD_MS) / 1000))
}

/** The most of `n` calls to be refused by chance if a share `p` of all is (binomial); the fewest if `sigmas` < 0. */
const chanceBound = (p: number, n: number, sigmas = 2) => n * p + sigmas * Math.sqrt(n * p * (1 - p))

/**
 * Finds a limit when two seconds in a row each refuse more than one call, and more than the usual share. The limit is
 * the median of the calls answered in these two seconds and the next (one may hold a burst that the service allows, or
 * a stall of this process), or their mean if few are refused (BBR's policers, ACM Queue 14(5), 2016). Each limit is an
 * experiment (PCC, Dong et al., NSDI 2015): if as many calls are refused below it, it is dropped, and their share is
 * the usual one. A limit of 0 ends after three seconds without a refusal: one answer may be all that a minute allows.
 */
export function estimateRateLimit(prior: GatePace | undefined, ended: readonly EndedCalls[], nowMs: number): GatePace {
  const gate = prior ?? { nextAtMs: 0, limitedAtMs: 0, ended: [] }
  const { limit = Number.POSITIVE_INFINITY, limitedAtMs, usual = 0 } = gate
  // The second in which a limit was found is ignored: some of its calls left before the limit applied.
  const counted = [...gate.ended, ...ended].filter(({ atMs }) => atMs >= limitedAtMs)
  const sum = (of: 'calls' | 'refused', from: readonly EndedCalls[]) =>
    from.reduce((total, each) => total + each[of], 0)
  const at = Math.floor(nowMs / 1000)
  const seconds = [at - 3, at - 2, at - 1, at].map((second) => {
    const within = counted.filter(({ atMs }) => Math.floor(atMs / 1000) === second)
    return { atMs: second * 1000, calls: sum('calls', within), refused: sum('refused', within) }
  })
  const updated = { ...gate, ended: seconds.filter(({ calls }) => calls > 0) }
  const fullSeconds = seconds.slice(0, 3)
  const [calls, refused] = [sum('calls', fullSeconds), sum('refused', fullSeconds)]
  if (limit === 0 && calls > 0 && refused === 0) return { ...updated, limit: undefined }
  const isLight = refused - 1 <= POLICED * calls
  const isOnTrial = gate.before && nowMs >= limitedAtMs + 3000 && nowMs < limitedAtMs + HOLD_MS
  // Calls that wait for the ceiling passed their gate at the old rate: judge the limit only after they have left.
  if (isOnTrial && fullSeconds.some((each) => each.calls > limit)) return updated
  if (isOnTrial && isLight && refused > Math.max(1, chanceBound(gate.before.usual ?? 0, calls, -2)))
    return { ...updated, limit: undefined, ...gate.before, usual: refused / calls, before: undefined }
  if (areRefused(fullSeconds, usual)) {
    const [, median = 0] = fullSeconds.map((each) => each.calls - each.refused).toSorted((a, b) => a - b)
    const newLimit = isLight ? Math.max(median, Math.round((calls - refused) / 3)) : median
    const before = { limit: gate.limit, limitedAtMs, usual: refused / calls }
    return { ...updated, limit: newLimit, limitedAtMs: (at + 1) * 1000, before }
  }
  return refused < chanceBound(usual, calls, -2) ? { ...updated, usual: refused / calls } : updated
}

/** Whether the first two of these seconds refuse many calls, or more than usual while the number of calls is steady. */
function areRefused(fullSeconds: readonly EndedCalls[], usual: number): boolean {
  const exceedsChance = (share: number, sigmas?: number) =>
    fullSeconds.slice(0, 2).every((each) => each.refused - 1 > chanceBound(share, each.calls, sigmas))
  // After a pause or a stall, a second has few calls and proves little.
  const isSteady = fullSeconds.every((each) => fullSeconds.every((other) => 2 * each.calls > other.calls))
  return exceedsChance(POLICED, 0) || (isSteady && exceedsChance(usual))
}
