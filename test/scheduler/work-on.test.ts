import { expect, test } from 'vitest'
import { workOn, type WorkOptions } from '../../src/scheduler/work-on.ts'
import { silentLog } from '../helpers/silent-log.ts'

/** Eight side by side. @returns how many jobs each look asked for, until none is left, and how many were given back */
async function looksFor(
  jobs: number,
  handle: WorkOptions['handle'],
  keepWanted?: WorkOptions['keepWanted'],
): Promise<{ readonly asked: readonly number[]; readonly givenBack: number }> {
  const asked: number[] = []
  const over = new AbortController()
  let left = jobs
  let givenBack = 0
  const ignore = async () => {}
  const queue: WorkOptions['queue'] = {
    take: async (_, most) => {
      asked.push(most)
      const count = Math.min(most, left)
      left -= count
      if (left === 0) setImmediate(() => over.abort())
      return Array.from({ length: count }, () => ({ id: '', data: null, number: 0, isLast: true }))
    },
    renew: async (_, attempts) => new Set(attempts),
    complete: ignore,
    fail: ignore,
    giveBack: async () => void (givenBack += 1),
    cancel: ignore,
  }
  const does = { handle, ...(keepWanted && { keepWanted }) }
  await workOn({ queue, name: 'partitions', concurrency: 8, log: silentLog, signal: over.signal, ...does })
  return { asked, givenBack }
}

test('what ends at once makes room for twice as many', async () => {
  const { asked } = await looksFor(100, async () => ({}))
  expect(asked.slice(0, 3)).toEqual([1, 2, 4])
  expect(asked.length).toBeLessThan(25)
})

test('what nobody wants any more is taken away by as many at a time, and at once', async () => {
  const { asked } = await looksFor(
    100,
    async () => ({}),
    async () => [],
  )
  expect(asked.slice(0, 4)).toEqual([1, 2, 4, 8])
  expect(asked.length).toBeLessThan(20)
})

test('what was taken while the warehouse was away is given back', async () => {
  const away = async () => await Promise.reject(new Error('away'))
  expect(await looksFor(1, async () => ({}), away)).toEqual({ asked: [1], givenBack: 1 })
})
