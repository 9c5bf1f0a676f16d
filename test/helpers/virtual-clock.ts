import type { Clock } from '../../src/core/clock.ts'

interface Sleeper {
  readonly wakesAt: number
  readonly wake: () => void
}

/** A clock that jumps from one sleeper to the next: minutes of many callers pass in a moment. It honours no signal. */
export interface VirtualClock extends Clock {
  readonly run: (ms: number) => Promise<void>
}

export function createVirtualClock(startMs = Date.UTC(2026, 10, 20, 6)): VirtualClock {
  let now = startMs
  /** By the instant; each in the order of asking. */
  const sleepers = new Map<number, Sleeper[]>()
  const queue: number[] = []

  const push = (sleeper: Sleeper): void => {
    const same = sleepers.get(sleeper.wakesAt)
    if (same) return void same.push(sleeper)
    sleepers.set(sleeper.wakesAt, [sleeper])
    const at = queue.findLastIndex((wakesAt) => wakesAt > sleeper.wakesAt)
    queue.splice(at + 1, 0, sleeper.wakesAt)
  }

  return {
    now: () => now,
    sleep: (ms) => new Promise((wake) => push({ wakesAt: now + Math.max(0, ms), wake })),
    run: async (ms) => {
      const until = now + ms
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve))
        const next = queue.at(-1)
        if (next === undefined || next > until) break
        queue.pop()
        now = Math.max(now, next)
        for (const { wake } of sleepers.get(next) ?? []) wake()
        sleepers.delete(next)
      }
      now = until
    },
  }
}
