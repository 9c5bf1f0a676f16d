import { untilNothingIsUnderWay } from './under-way.ts'

/** Sleeps of this length belong to a schedule; waits within a run are shorter. */
const LONG_MS = 30_000

interface Sleeper {
  wakesAtMs: number
  readonly isLong: boolean
  readonly wake: () => void
  readonly fail: (error: unknown) => void
}

export type FakeClock = ReturnType<typeof createFakeClock>

interface FakeClockOptions {
  readonly startMs?: number
  /** Time passes by itself whenever something sleeps and nothing real is under way. */
  readonly isAutomatic?: boolean
  /** Sleeps of half a minute or longer end only at multiples of this, so that days pass quickly. */
  readonly gridMs?: () => number
  /** While true, something runs in real time, and sleeps of half a minute or longer do not end. */
  readonly isHeld?: () => boolean
}

const realTime = async (): Promise<true> => await new Promise((resolve) => setTimeout(() => resolve(true), 5))

/** Creates a clock that its test moves. Time never passes by itself while something real is under way. */
export function createFakeClock(options: FakeClockOptions = {}) {
  const { startMs = Date.UTC(2026, 10, 20, 6), isAutomatic = false, gridMs, isHeld = () => false } = options
  let nowMs = startMs
  let isRunning = false
  /** The length of every sleep so far, in milliseconds. */
  const waits: number[] = []
  /** Sorted by wake-up time, the latest first; at the same time, the most recent sleep first. */
  const asleep: Sleeper[] = []

  const putToSleep = (sleeper: Sleeper): void => {
    asleep.splice(asleep.findLastIndex(({ wakesAtMs }) => wakesAtMs > sleeper.wakesAtMs) + 1, 0, sleeper)
  }
  const setTime = (ms: number): void => {
    for (const sleeper of asleep) sleeper.wakesAtMs += ms - nowMs
    nowMs = ms
  }
  /** Wakes the sleepers that are due next, if that is by `untilMs`. @returns whether there were any */
  const wakeNext = (untilMs: number): boolean => {
    const isDue = isHeld() ? ({ isLong }: Sleeper) => !isLong : () => true
    const next = asleep.findLast(isDue)?.wakesAtMs
    if (next === undefined || next > untilMs) return false
    nowMs = Math.max(nowMs, next)
    for (const sleeper of asleep.filter((sleeper) => sleeper.wakesAtMs === next && isDue(sleeper)).reverse()) {
      asleep.splice(asleep.indexOf(sleeper), 1)
      sleeper.wake()
    }
    return true
  }
  const runTo = async (untilMs: number): Promise<void> => {
    do await untilNothingIsUnderWay()
    while (wakeNext(untilMs) || (isHeld() && (await realTime())))
  }
  const runByItself = (): void => {
    if (isRunning) return
    isRunning = true
    const run = async () => {
      do await untilNothingIsUnderWay()
      while (wakeNext(Infinity))
      isRunning = false
    }
    run().catch((error: unknown) => asleep.splice(0).forEach(({ fail }) => fail(error)))
  }

  return {
    /** Setting it moves the clock forward or back; sleeps take as long as before. */
    get nowMs(): number {
      return nowMs
    },
    set nowMs(ms) {
      setTime(ms)
    },
    now: () => nowMs,
    /** Moves the clock forward, as setting `nowMs` does. */
    passHours: (hours: number): void => setTime(nowMs + hours * 3_600_000),
    sleep: async (ms: number, signal?: AbortSignal): Promise<void> => {
      signal?.throwIfAborted()
      waits.push(ms)
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const at = nowMs + Math.max(0, ms)
      const wakesAtMs = gridMs && ms >= LONG_MS ? Math.ceil(at / gridMs()) * gridMs() : at
      const sleeper = { wakesAtMs, isLong: ms >= LONG_MS, wake: resolve, fail: reject }
      const onAbort = () => {
        const place = asleep.indexOf(sleeper)
        if (place >= 0) asleep.splice(place, 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort)
      putToSleep(sleeper)
      if (isAutomatic) runByItself()
      await promise.finally(() => signal?.removeEventListener('abort', onAbort))
    },
    waits,
    /**
     * Lets time pass until `untilMs`, from the end of one sleep to that of the next, each time only when nothing real
     * is under way: no statement, request or file. Returns when no more sleeps end by then.
     */
    runTo: async (untilMs: number): Promise<void> => {
      await runTo(untilMs)
      nowMs = Math.max(nowMs, untilMs)
    },
    /** Lets time pass at once, whatever is under way: for tests in which something hangs. */
    advance: async (ms: number): Promise<void> => {
      const untilMs = nowMs + ms
      do await new Promise((resolve) => setImmediate(resolve))
      while (wakeNext(untilMs))
      nowMs = untilMs
    },
  }
}
