import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal } from '../../src/emulator/fault-effects.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import { defaultSwitches, type Switches } from '../../src/emulator/switches.ts'
import { probe } from '../../src/sync/probe.ts'
import { allStreams } from '../../src/streams/registry.ts'
import { connectTo } from '../helpers/emulated-client.ts'
import { FIXED_NOW } from '../helpers/emulated-service.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'

const clock = { now: () => FIXED_NOW, sleep: async () => {} }

/** Probes and gives the answers by `topic subject`. */
async function probeOf(emulator: Emulator) {
  // Its own clock: one that stands still waits forever for a refused call's turn.
  const own = createFakeClock({ startMs: FIXED_NOW, isAutomatic: true })
  await using connection = connectTo(emulator, { clock: own })
  const before = emulator.calls.length
  const { facts, failures } = await probe({
    ask: connection.ask,
    streams: allStreams,
    channels: emulator.channelIds,
    timeZone: 'Asia/Shanghai',
    clock,
    signal: new AbortController().signal,
  })
  return {
    facts,
    answers: Object.fromEntries(facts.map(({ topic, subject, answer }) => [`${topic} ${subject}`, answer])),
    failures,
    made: emulator.calls.slice(before),
  }
}

let emulator: Emulator
beforeAll(async () => {
  emulator = await startEmulator({ channels: 2, viewers: 200, clock })
})
afterAll(async () => await emulator[Symbol.asyncDispose]())

/** Of an emulator with no switch set. */
const usual = { 'zone account': 'fits', 'list_params managersUsage': 'query', 'list_params managers': 'query' }
const cases: readonly (readonly [Partial<Switches>, Readonly<Record<string, string>>])[] = [
  [{}, {}],
  [{ recordOrder: 'shuffled', managerOrder: 'shuffled' }, {}],
  [{ listParams: 'body' }, { 'list_params managersUsage': 'body', 'list_params managers': 'body' }],
  [{ emptyLists: 'null', totals: 'text' }, {}],
]

test.each(cases)('%o: every answer is right, within eight calls', async (switches, different) => {
  Object.assign(emulator.switches, defaultSwitches, switches)
  const { answers, made } = await probeOf(emulator)
  expect(answers).toEqual({ ...usual, ...different })
  expect(made.length).toBeLessThanOrEqual(8)
})

test('where nothing is there to ask about, the zone is unknown and the answer says why', async () => {
  await using empty = await startEmulator({ channels: 2, viewers: 0, clock })
  const { facts } = await probeOf(empty)
  expect(facts[0]).toMatchObject({ topic: 'zone', answer: null, evidence: 'no row with a time came' })
})

test('times ahead of now show another zone; old ones leave it open', async () => {
  const zoneIn = async (timeZone: string) => {
    await using other = await startEmulator({ channels: 1, viewers: 200, clock, timeZone })
    const { facts } = await probeOf(other)
    return facts.find(({ topic }) => topic === 'zone')
  }
  expect(await zoneIn('Asia/Tokyo')).toMatchObject({
    answer: 'does not fit',
    evidence: expect.stringContaining('ahead of now in Asia/Shanghai'),
  })
  expect(await zoneIn('Asia/Jakarta')).toMatchObject({
    answer: null,
    evidence: expect.stringContaining('nobody has watched since, or the zone is another'),
  })
})

test('an endpoint that is closed to the account leaves its own question open, and the others are answered', async () => {
  Object.assign(emulator.switches, defaultSwitches)
  emulator.faults.push({ effect: refusal(403002), endpoint: 'userRecordList' })
  try {
    const { answers, facts, failures, made } = await probeOf(emulator)
    expect(answers).toEqual({ ...usual, 'zone account': null })
    expect(facts[0]?.evidence).toBe('no answer came (api.forbidden)')
    expect([...failures.keys()].map(({ name }) => name)).toEqual(['watch_records'])
    expect(made.filter(({ endpoint }) => endpoint === 'userRecordList')).toHaveLength(1)
  } finally {
    emulator.faults.length = 0
  }
})
