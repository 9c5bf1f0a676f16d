import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
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
