import { expect, test } from 'vitest'
import { LivehouseError } from '../../src/core/errors.ts'
import { type WorkOptions, workOn } from '../../src/scheduler/work-on.ts'
import { silentLog } from '../helpers/silent-log.ts'

/** Works on jobs, eight at once. @returns how many each poll requested until none was left; how many were given back */
async function runWorker(jobs: number, options: Partial<WorkOptions> & { readonly isDownAtFirst?: boolean }) {
  const requested: number[] = []
  const stop = new AbortController()
  let remaining = jobs
  let givenBack = 0
  let wake = () => {}
  const ignore = async () => {}
  const queue: WorkOptions['queue'] = {
    onSent: (_, wakeUp) => void (wake = wakeUp),
    take: async (_, limit) => {
      requested.push(limit)
      if (options.isDownAtFirst && requested.length === 1) {
        setImmediate(wake)
        throw new Error('away')
      }
      const count = Math.min(limit, remaining)
      remaining -= count
      if (remaining === 0) setImmediate(() => stop.abort())
      return Array.from({ length: count }, () => ({ id: '', data: null, number: 0, isLast: true }))
    },
    renew: async (_, attempts) => new Set(attempts),
    complete: ignore,
    fail: ignore,
    giveBack: async () => void (givenBack += 1),
    cancel: ignore,
  }
  const work = { queue, name: 'partitions' as const, concurrency: 8, handle: async () => ({}), ...options }
  const warn = (event: string) => event === 'worker.rests' && stop.abort()
  await workOn({ ...work, log: { ...silentLog, warn }, signal: stop.signal })
  return { requested, givenBack }
}

test.each([
  ['jobs that end at once are requested in doubling numbers', {}, [1, 2, 4], 25],
  ['jobs that are no longer wanted make room at once', { keepWanted: async () => [] }, [1, 2, 4, 8], 20],
])('%s', async (_, options, first, limit) => {
  const { requested } = await runWorker(100, options)
  expect(requested.slice(0, first.length)).toEqual(first)
  expect(requested.length).toBeLessThan(limit)
})

test('a job that was taken while the warehouse is unreachable is given back; such a queue is polled again', async () => {
  const keepWanted = async () => await Promise.reject(new Error('away'))
  expect(await runWorker(1, { keepWanted })).toEqual({ requested: [1], givenBack: 1 })
  expect((await runWorker(1, { isDownAtFirst: true })).requested.slice(0, 2)).toEqual([1, 1])
})

test('a process that is older than the database takes no more jobs, unless it completes others meanwhile', async () => {
  const fail = async () => await Promise.reject(new LivehouseError('db.newer', 'a newer one migrated it', {}))
  expect((await runWorker(9, { handle: fail })).requested).toEqual([1])
  let started = 0
  const handle = async () => await new Promise(setImmediate).then(++started > 2 && started % 2 ? fail : () => ({}))
  await runWorker(40, { handle })
  expect(started).toBe(40)
})
