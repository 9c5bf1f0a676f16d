import { untilNothingIsUnderWay } from './under-way.ts'

/** Who sleeps for so long looks after a schedule; what waits within a run sleeps for less. */
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
  /** Time passes whenever nothing real is under way and somebody sleeps, without being asked to. */
  readonly isAutomatic?: boolean
  /** Who sleeps for half a minute or longer only wakes up at a multiple of this, so that days pass quickly. */
  readonly gridMs?: () => number
  /** While it is so, something goes on that keeps to real time: sleeps of half a minute or longer go on. */
  readonly isHeld?: () => boolean
}

const realTime = async (): Promise<true> => await new Promise((resolve) => setTimeout(() => resolve(true), 5))

/** A clock that stands still, and moves as its test says. No time ever passes by itself while something real is under way. */
export function createFakeClock(options: FakeClockOptions = {}) {
  const { startMs = Date.UTC(2026, 10, 20, 6), isAutomatic = false, gridMs, isHeld = () => false } = options
  let nowMs = startMs
  let isRunning = false
  /** Every wait asked for so far, in milliseconds. */
  const waits: number[] = []
  /** By the time at which they wake up, the last first; of the same time in the order of asking. */
  const asleep: Sleeper[] = []

  const putToSleep = (sleeper: Sleeper): void => {
    asleep.splice(asleep.findLastIndex(({ wakesAtMs }) => wakesAtMs > sleeper.wakesAtMs) + 1, 0, sleeper)
  }
  const setTime = (ms: number): void => {
    for (const sleeper of asleep) sleeper.wakesAtMs += ms - nowMs
    nowMs = ms
  }
  /** Wakes those of the next time until then. @returns whether there was one */
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
  const goOn = (): void => {
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
    /** May be set, to put the clock forward or back: sleeps take as long as before. */
    get nowMs(): number {
      return nowMs
    },
    set nowMs(ms) {
      setTime(ms)
    },
    now: () => nowMs,
    /** Puts the clock forward by so many hours. */
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
      if (isAutomatic) goOn()
      await promise.finally(() => signal?.removeEventListener('abort', onAbort))
    },
    waits,
    /**
     * Lets time pass until then, from one end of a sleep to the next; each time only when nothing real is under way: no statement,
     * no request, no file. Returns when nobody is to wake up until then.
     */
    runTo: async (untilMs: number): Promise<void> => {
      await runTo(untilMs)
      nowMs = Math.max(nowMs, untilMs)
    },
    /** Lets so much time pass now, whatever is under way: for what hangs. */
    advance: async (ms: number): Promise<void> => {
      const untilMs = nowMs + ms
      do await new Promise((resolve) => setImmediate(resolve))
      while (wakeNext(untilMs))
      nowMs = untilMs
    },
  }
}
