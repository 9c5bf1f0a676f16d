import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Answer } from '../../src/emulator/answer.ts'
import { readLeases } from '../../src/ledger/leases/lease-rows.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { atFirstList } from '../helpers/fault-effects.ts'
import { startKillBench } from '../helpers/kill-bench.ts'
import { ofFile } from '../helpers/of-file.ts'
import { untilExpired, untilIdle } from '../helpers/own-locks.ts'
import type { Child } from '../helpers/start-child.ts'

const bench = ofFile(startKillBench)
/** What an undisturbed run covers, and how many requests, writes and commits it makes. */
let coverage: readonly unknown[]
let points: { readonly request: number; readonly write: number; readonly commit: number }

beforeAll(async () => {
  // The very first run writes some things that no later one does.
  await bench.syncHere()
  const before = bench.emulator.calls.length
  await bench.reset()
  if ((await bench.syncHere()) !== 0) throw new Error('the undisturbed run is not ok')
  coverage = await bench.readCoverage()
  points = { ...(await bench.countPoints()), request: bench.emulator.calls.length - before }
})
beforeEach(async () => await bench.reset())

function atRequest(number: number, act: (answer: Answer) => Answer): void {
  let requests = 0
  const answer = (given: Answer) => (++requests === number ? act(given) : given)
  bench.emulator.faults.push({ effect: { name: 'at request', answer } })
}

const hang = (answer: Answer): Answer => ({ ...answer, delivery: { kind: 'hang' } })

/** A process that waits for the answer to its n-th request, which never comes. */
async function startHanging(number: number): Promise<Child> {
  const child = bench.startChild()
  const requested = Promise.withResolvers<void>()
  atRequest(number, (answer) => {
    requested.resolve()
    return hang(answer)
  })
  await child.whileRunning(requested.promise)
  return child
}

/** Expects the next run to leave what an undisturbed one would have left. */
async function expectRepaired(wait = untilExpired): Promise<void> {
  bench.emulator.faults.length = 0
  await wait(bench.database.db)
  expect(await bench.syncHere()).toBe(0)
  await expectTruth(bench)
  expect(await bench.readCoverage()).toEqual(coverage)
}

/** At most `most` numbers from 1 to `last`, evenly spaced. */
function sample(last: number, most: number): readonly number[] {
  const step = Math.max(1, (last - 1) / (most - 1))
  return Array.from({ length: Math.min(last, most) }, (_, index) => 1 + Math.round(index * step))
}

test.each(['before', 'after'] as const)('a process is killed %s an answer: the next run repairs it', async (moment) => {
  for (const number of sample(points.request, moment === 'before' ? 2 : 3)) {
    await bench.reset()
    const child = bench.startChild()
    atRequest(number, (answer) => {
      if (moment === 'before') child.process.kill('SIGKILL')
      else setImmediate(() => child.process.kill('SIGKILL'))
      return moment === 'before' ? hang(answer) : answer
    })
    expect(await child.ended, `request ${number} of ${points.request}`).toMatchObject({ signal: 'SIGKILL' })
    await expectRepaired()
  }
})

test.each(['write', 'commit'] as const)('a process is killed in a %s: the next run repairs it', async (at) => {
  for (const number of sample(points[at], at === 'write' ? 5 : 3)) {
    await bench.reset()
    const gate = await bench.closeGate(at, number)
    const child = bench.startChild()
    await gate.untilReached(child)
    child.process.kill('SIGKILL')
    expect(await child.ended).toMatchObject({ signal: 'SIGKILL' })
    await gate.open()
    await expectRepaired()
  }
})

test.each([
  ['SIGINT', 130],
  ['SIGHUP', 143],
] as const)('%s ends a run with %i though an answer never comes; the next run resumes', async (signal, code) => {
  const child = await startHanging(Math.ceil(points.request / 2))
  child.process.kill(signal)
  expect(await child.ended).toMatchObject({ code, signal: null })
  await expectRepaired()
})

async function readStatuses(): Promise<readonly string[]> {
  const runs = await bench.database.db.selectFrom('livehouse_ops.runs').select('status').orderBy('run_id').execute()
  return runs.map(({ status }) => status)
}

test('the next run waits until the leases of a killed process expire, and marks its run interrupted', async () => {
  const { db } = bench.database
  const child = await startHanging(2)
  child.process.kill('SIGKILL')
  await child.ended
  const leases = (await readLeases(db)).map(({ name }) => name)
  expect(leases).toEqual(expect.arrayContaining([expect.stringMatching(/^run /), expect.stringMatching(/^partition /)]))
  await untilIdle(db)
  // Instead of the remaining 20 s, in which nothing else would happen.
  await sql`update livehouse_ops.leases set expires_at = now() + interval '2 s'`.execute(db)
  await expectRepaired(untilIdle)
  // By now the lease of the killed run has expired too; it was still held when the last run began.
  expect(await bench.syncHere()).toBe(0)
  expect(await readStatuses()).toEqual(['interrupted', 'ok', 'ok'])
  expect(await readLeases(db)).toEqual([])
})

test('of two processes at once, one waits for what the other holds, and both succeed', async () => {
  // The process that lands first waits there until the other one wants the partition.
  const gate = await bench.closeGate('landing', 1)
  // Not visitors: landing them locks the row of the channel, which the other process registers.
  const walks = ['managers', 'manager_usage'] as const
  const children = [1, 2].map(() => bench.startChild('--streams', walks.join(',')))
  await gate.untilReached(...children)
  await Promise.race(children.map(async (child) => await child.untilOutput('partition.waiting')))
  await gate.open()
  for (const { ended } of children) {
    const { code, error } = await ended
    expect(code, error).toBe(0)
  }
  await expectTruth(bench, walks)
})

/** Expires leases as time does: of the partition, or also of the run where nothing renews that. */
const expire = {
  'the partition alone': sql`update livehouse_ops.leases
    set expires_at = now() + case when name like 'run %' then interval '1 hour' else '0' end`,
  'the partition and the run': sql`update livehouse_ops.leases set expires_at = now()`,
} as const

test.each([
  ['the partition alone', 'running'],
  ['the partition and the run', 'interrupted'],
] as const)('a stopped process that loses %s overwrites no newer rows: %s', async (lease, status) => {
  const child = bench.startChild('--streams', 'visitors')
  const stopped = Promise.withResolvers<void>()
  const effect = atFirstList(() => {
    child.process.kill('SIGSTOP')
    stopped.resolve()
  })
  bench.emulator.faults.push({ effect })
  await child.whileRunning(stopped.promise)
  await expire[lease].execute(bench.database.db)
  for (const { visitors } of bench.emulator.world.channels.values())
    for (const visitor of visitors.rows) visitors.replace(visitor, { ...visitor, nick: `${visitor.nick} II` })
  expect(await bench.syncHere()).toBe(0)
  await expectTruth(bench, ['visitors'])
  expect(await readStatuses()).toEqual([status, 'ok'])

  child.process.kill('SIGCONT')
  const { code, error } = await child.ended
  expect(code, error).toBe(0)
  await expectTruth(bench, ['visitors'])
  expect(await readStatuses()).toEqual(['ok', 'ok'])
})
