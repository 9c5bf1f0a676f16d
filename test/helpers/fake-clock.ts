import type { Clock } from '../../src/core/clock.ts'

interface Sleeper {
  readonly wakesAt: number
  readonly wake: () => void
}

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves the clock and wakes, in order of time, those whose time has come. Lets woken code run in between. */
  readonly advance: (ms: number) => Promise<void>
  /** Every wait asked for so far, in milliseconds. */
  readonly waits: readonly number[]
}

/** `isAutomatic`: whoever sleeps moves the clock and goes on at once. */
export function createFakeClock({ startMs = Date.UTC(2026, 10, 20, 6), isAutomatic = false } = {}): FakeClock {
  let now = startMs
  const waits: number[] = []
  const sleepers = new Set<Sleeper>()
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted()
    waits.push(ms)
    if (isAutomatic) {
      now += ms
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const sleeper = { wakesAt: now + ms, wake: resolve }
    sleepers.add(sleeper)
    const onAbort = () => reject(signal?.reason)
    signal?.addEventListener('abort', onAbort)
    await promise.finally(() => {
      sleepers.delete(sleeper)
      signal?.removeEventListener('abort', onAbort)
    })
  }

  return {
    now: () => now,
    sleep,
    waits,
    advance: async (ms) => {
      const until = now + ms
      for (;;) {
        await settle()
        const [next] = [...sleepers].filter(({ wakesAt }) => wakesAt <= until).sort((a, b) => a.wakesAt - b.wakesAt)
        if (!next) break
        now = Math.max(now, next.wakesAt)
        sleepers.delete(next)
        next.wake()
      }
      now = until
    },
  }
}
