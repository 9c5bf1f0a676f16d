import type { Clock } from '../../src/core/clock.ts'

interface Sleeper {
  /** How long it wanted to sleep. */
  readonly waitMs: number
  wakesAtMs: number
  readonly wake: () => void
}

/** A clock that goes on by itself while nobody is busy, to the next one who wakes up. */
export interface LockstepClock extends Clock {
  /** Lets time pass. Returns when nobody is to wake up until then. */
  readonly runTo: (untilMs: number) => Promise<void>
  /** Puts the clock forward or back: who sleeps, sleeps on as long as before. */
  readonly jump: (ms: number) => void
}

export interface LockstepOptions {
  readonly startMs: number
  /** How many have to be asleep before time passes. */
  readonly sleepers: () => number
  /** Time stands while somebody works; told how long each sleeper wanted to sleep. */
  readonly isBusy: (waitsMs: readonly number[]) => boolean
  /** Who sleeps for half a minute or longer only wakes up at a multiple of this, so that days pass quickly. */
  readonly gridMs?: () => number
}

export function createLockstepClock({ startMs, sleepers, isBusy, gridMs = () => 1 }: LockstepOptions): LockstepClock {
  const asleep = new Set<Sleeper>()
  let nowMs = startMs
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return {
    now: () => nowMs,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const grid = ms < 30_000 ? 1 : gridMs()
      const sleeper = { waitMs: ms, wakesAtMs: Math.ceil((nowMs + ms) / grid) * grid, wake: resolve }
      asleep.add(sleeper)
      const onAbort = () => reject(signal?.reason)
      signal?.addEventListener('abort', onAbort)
      await promise.finally(() => {
        asleep.delete(sleeper)
        signal?.removeEventListener('abort', onAbort)
      })
    },
    runTo: async (untilMs) => {
      for (;;) {
        do await settle()
        while (asleep.size < sleepers() || isBusy([...asleep].map(({ waitMs }) => waitMs)))
        const [next] = [...asleep].sort((a, b) => a.wakesAtMs - b.wakesAtMs)
        if (next === undefined || next.wakesAtMs > untilMs) break
        nowMs = Math.max(nowMs, next.wakesAtMs)
        asleep.delete(next)
        next.wake()
      }
      nowMs = Math.max(nowMs, untilMs)
    },
    jump: (ms) => {
      nowMs += ms
      for (const sleeper of asleep) sleeper.wakesAtMs += ms
    },
  }
}
