import type { Clock } from '../core/clock.ts'
import { hasCode } from '../core/errors.ts'
import { type Http, headerOf, type RawAnswer } from './http.ts'

/** The service's clock as its answers show it; this machine's clock until one of them has a usable `Date`. */
export type ServiceClock = ReturnType<typeof createServiceClock>['serviceClock']

/** `refresh` asks for the time if the last answer is older than this. */
const FRESH_MS = 60_000
/** Clocks that differ by no more than this count as equal, as calls take time. */
export const MAX_CLOCK_DIFFERENCE_SECONDS = 60
/** An earlier `Date` is from a clock that was never set, a later one from none: both are ignored. */
const [EARLIEST_MS, LATEST_MS] = [Date.UTC(2001, 0), Date.UTC(9999, 0)]
/** A `Date` has whole seconds. */
const RESOLUTION_MS = 1000

/**
 * Tracks the service's clock by Cristian's algorithm: the times at which a call left and its answer arrived bound the
 * difference between the clocks. The current difference stays while it is within the bounds; otherwise the lower bound
 * replaces it, which is never ahead of the service. Between answers the monotonic clock counts.
 * If the two clocks differ by over a minute, a cache may have answered `/` with an old `Date`. Then a list is requested
 * too: no cache answers a call with a token (RFC 9111, 3.5).
 * @param ask makes any harmless call over `timed`
 * @param askList makes a call with the token
 * @returns the clock, and `timed`: the exchange that reads the time from each answer
 */
export function createServiceClock(
  clock: Clock,
  exchange: Http['exchange'],
  ask: (timed: Http['exchange'], signal: AbortSignal) => Promise<unknown>,
  askList: (signal: AbortSignal) => Promise<unknown>,
) {
  const elapsed = clock.monotonicMs ?? clock.now
  /** The service's time less `elapsed()`, and when the last answer came, by the monotonic and by the wall clock. */
  let sync: { readonly offsetMs: number; readonly elapsedMs: number; readonly ownMs: number } | undefined

  const learn = (answer: RawAnswer, leftAtMs: number): void => {
    const servedMs = Date.parse(headerOf(answer, 'date') ?? '')
    if (!(servedMs > EARLIEST_MS && servedMs < LATEST_MS)) return
    const elapsedMs = elapsed()
    const ownMs = clock.now()
    const currentMs = sync?.offsetMs ?? ownMs - elapsedMs
    const lowestMs = servedMs - elapsedMs
    const isWithin = currentMs >= lowestMs && currentMs <= servedMs + RESOLUTION_MS - leftAtMs
    sync = { offsetMs: isWithin ? currentMs : lowestMs, elapsedMs, ownMs }
  }
  const timed: Http['exchange'] = async (call, context) => {
    const leftAtMs = elapsed()
    const answer = await exchange(call, context)
    if (call.host === 'base') learn(answer, leftAtMs)
    return answer
  }
  /** By both clocks: the monotonic one may stand still while the machine sleeps. */
  const isFresh = (): boolean =>
    sync !== undefined && elapsed() - sync.elapsedMs < FRESH_MS && Math.abs(clock.now() - sync.ownMs) < FRESH_MS
  const now = (): number => (sync === undefined ? clock.now() : elapsed() + sync.offsetMs)
  /** How far this machine's clock is ahead of the service's (ms); undefined before the first answer with a time. */
  const ownAheadMs = () => (sync === undefined ? undefined : clock.now() - now())
  return {
    timed,
    serviceClock: {
      now,
      sleep: clock.sleep,
      /** Asks the service for its time if no answer of the last minute had it. @throws what `ask` throws */
      refresh: async (signal: AbortSignal): Promise<void> => {
        if (isFresh()) return
        await ask(timed, signal).catch((error: unknown) => {
          // An unreadable body gives no time. The calls that follow report it.
          if (!hasCode(error, 'api.bodyRefused') && !hasCode(error, 'api.badBody')) throw error
        })
        if (Math.abs(ownAheadMs() ?? 0) <= MAX_CLOCK_DIFFERENCE_SECONDS * 1000) return
        // A refusal has the time too.
        await askList(signal).catch(() => signal.throwIfAborted())
      },
      ownAheadMs,
      /**
       * The instant (ms) up to which rows may count as read: the service's now, or this machine's if it is earlier by
       * over a minute. The clock that is ahead would cover rows yet to come, and either clock may be the wrong one.
       */
      claimableMs: (): number => {
        const aheadMs = ownAheadMs() ?? 0
        return now() + (aheadMs < -MAX_CLOCK_DIFFERENCE_SECONDS * 1000 ? aheadMs : 0)
      },
    },
  }
}
