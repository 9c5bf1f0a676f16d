import { expect, test } from 'vitest'
import { LivehouseError } from '../../src/core/errors.ts'
import { workOn, type WorkOptions } from '../../src/scheduler/work-on.ts'
import { silentLog } from '../helpers/silent-log.ts'

/** Eight side by side. @returns how many jobs each look asked for, until none is left, and how many were given back */
async function looksFor(jobs: number, does: Partial<WorkOptions> & { readonly isAwayAtFirst?: boolean }) {
  const asked: number[] = []
  const over = new AbortController()
  let left = jobs
  let givenBack = 0
  let wake = () => {}
  const ignore = async () => {}
  const queue: WorkOptions['queue'] = {
    onSent: (_, wakeUp) => void (wake = wakeUp),
    take: async (_, most) => {
      asked.push(most)
      if (does.isAwayAtFirst && asked.length === 1) {
        setImmediate(wake)
        throw new Error('away')
      }
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
  const work = { queue, name: 'partitions' as const, concurrency: 8, handle: async () => ({}), ...does }
  const warn = (event: string) => event === 'worker.rests' && over.abort()
  await workOn({ ...work, log: { ...silentLog, warn }, signal: over.signal })
  return { asked, givenBack }
}

test.each([
  ['ends at once makes room for twice as many', {}, [1, 2, 4], 25],
  ['nobody wants any more is taken away by as many, and at once', { keepWanted: async () => [] }, [1, 2, 4, 8], 20],
])('what %s', async (_, does, first, most) => {
  const { asked } = await looksFor(100, does)
  expect(asked.slice(0, first.length)).toEqual(first)
  expect(asked.length).toBeLessThan(most)
})

test('what was taken while the warehouse was away is given back', async () => {
  const keepWanted = async () => await Promise.reject(new Error('away'))
  expect(await looksFor(1, { keepWanted })).toEqual({ asked: [1], givenBack: 1 })
})

test('a queue that is away is asked again', async () => {
  expect((await looksFor(1, { isAwayAtFirst: true })).asked.slice(0, 2)).toEqual([1, 1])
})

test('a process that is older than the database takes no more jobs, unless it completes others meanwhile', async () => {
  const fail = async () => await Promise.reject(new LivehouseError('db.newer', 'a newer one migrated it', {}))
  expect((await looksFor(9, { handle: fail })).asked).toEqual([1])
  let begun = 0
  const handle = async () => await new Promise(setImmediate).then(++begun > 2 && begun % 2 ? fail : () => ({}))
  await looksFor(40, { handle })
  expect(begun).toBe(40)
})
