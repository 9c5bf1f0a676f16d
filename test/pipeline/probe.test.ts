import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Exchange } from '../../src/api/observe.ts'
import { jsonAnswer } from '../../src/emulator/answer.ts'
import { refusal } from '../../src/emulator/fault-effects.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import { defaultSwitches, type Switches } from '../../src/emulator/switches.ts'
import { type ProbeDeps, probe } from '../../src/pipeline/probe.ts'
import { connectTo } from '../helpers/emulated-client.ts'
import { FIXED_NOW } from '../helpers/emulated-service.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'

const clock = { now: () => FIXED_NOW, sleep: async () => {} }

/** Probes and gives the answers by `topic subject`. */
async function probeOf(emulator: Emulator, overrides: Partial<ProbeDeps> = {}) {
  const exchanges: Exchange[] = []
  // Its own clock: one that stands still waits forever for a refused call's turn.
  const own = createFakeClock({ startMs: FIXED_NOW, isAutomatic: true })
  await using connection = connectTo(emulator, { clock: own, onExchange: (exchange) => void exchanges.push(exchange) })
  const before = emulator.calls.length
  const { facts, calls, failures } = await probe({
    ask: connection.ask,
    channels: emulator.channelIds,
    timeZone: 'Asia/Shanghai',
    clock,
    signal: new AbortController().signal,
    held: { records: undefined, users: undefined },
    answered: () =>
      exchanges.map(({ call, answer, elapsedMs }) => ({
        endpoint: call.endpoint,
        status: answer.status,
        elapsedMs,
        retryAfter: answer.retryAfter,
      })),
    ...overrides,
  })
  const timeless = facts.filter(({ topic }) => topic !== 'response_time')
  return {
    facts,
    answers: Object.fromEntries(
      timeless.map(({ topic, subject, answer }) => [`${topic} ${subject}`, answer ?? 'unknown']),
    ),
    counted: [...calls.values()].reduce((sum, each) => sum + each.calls, 0),
    failures,
    made: emulator.calls.slice(before),
  }
}

let emulator: Emulator
beforeAll(async () => {
  emulator = await startEmulator({ channels: 2, viewers: 2000, clock })
})
afterAll(async () => await emulator[Symbol.asyncDispose]())

const cases: readonly (readonly [Partial<Switches>, Readonly<Record<string, string>>])[] = [
  [{}, {}],
  [{ filterEnds: 'exclusive' }, ends('none')],
  [{ filterEnds: 'half-open' }, { ...ends('start'), 'filter_ends userRecordList': 'one' }],
  [{ recordFilterTime: 'leave' }, { 'record_filter_time userRecordList': 'leave' }],
  [
    { recordFilterTime: 'leave', filterEnds: 'exclusive' },
    { 'record_filter_time userRecordList': 'leave', ...ends('none') },
  ],
  [{ recordOrder: 'time-asc', giftOrder: 'shuffled', signupOrder: 'id-asc', questionnaireOrder: 'shuffled' }, {}],
  [{ recordOrder: 'shuffled', giftOrder: 'time-asc', signupOrder: 'shuffled', managerOrder: 'shuffled' }, {}],
  [{ visitorOrder: 'first-login' }, { 'visitor_order visitorList': 'first_login_time' }],
  [{ visitorOrder: 'watch-time' }, { 'visitor_order visitorList': 'watch_time' }],
  [{ visitorOrder: 'user-id' }, { 'visitor_order visitorList': 'user_id' }],
  [
    { visitorOrder: 'shuffled' },
    { 'visitor_order visitorList': 'none of the fields', 'visitor_direction visitorList': 'unknown' },
  ],
  [{ beyondLastPage: 'repeat-last' }, pages('past_last_page', 'the last page again')],
  [{ beyondLastPage: 'error' }, pages('past_last_page', 'refused')],
  [{ beyondLastPage: 'error', errcodeStatus: 'matching' }, pages('past_last_page', 'refused')],
  [{ aboveMaximum: 'error' }, pages('above_maximum', 'refused')],
  [{ aboveMaximum: 'default' }, pages('above_maximum', 'the default')],
  [{ listParams: 'body' }, { 'list_params managersUsage': 'body', 'list_params managers': 'body' }],
  [{ emptyLists: 'null', totals: 'text' }, {}],
  [{ emptyLists: 'missing', filterEnds: 'exclusive' }, ends('none')],
  [{ giftVisitor: 'always' }, { 'gift_visitor giftRunning': 'always' }],
  [{ giftVisitor: 'never' }, { 'gift_visitor giftRunning': 'never' }],
]

/** Of an emulator with no switch set. */
const usual: Readonly<Record<string, string>> = {
  'record_filter_time userRecordList': 'entry',
  ...ends('both'),
  'visitor_order visitorList': 'last_online_time',
  'visitor_direction visitorList': 'desc falls, asc rises',
  ...pages('past_last_page', 'empty'),
  ...pages('above_maximum', 'the maximum'),
  'gift_visitor giftRunning': 'some',
  'zone account': 'fits',
  // Two pages of rows show that ids recur, but not that none does.
  'recurring_record_ids account': 'unknown',
  'recurring_user_ids account': 'yes',
  'list_params managersUsage': 'query',
  'list_params managers': 'query',
  'retry_after account': 'unknown',
}

function ends(answer: string) {
  return Object.fromEntries(
    ['userRecordList', 'giftRunning', 'signupRecord'].map((subject) => [`filter_ends ${subject}`, answer]),
  )
}

function pages(topic: string, answer: string) {
  return Object.fromEntries(
    ['visitorList', 'giftRunning', 'signupRecord'].map((subject) => [`${topic} ${subject}`, answer]),
  )
}

test.each(cases)('%o: every answer is right, within 36 calls and none on version 1', async (switches, different) => {
  Object.assign(emulator.switches, defaultSwitches, switches)
  const { answers, made, counted } = await probeOf(emulator)
  expect(answers).toEqual({ ...usual, ...different })
  expect(made.length).toBeLessThanOrEqual(36)
  expect(counted).toBe(made.length)
  expect(made.map(({ endpoint }) => endpoint)).not.toContain('userRecords')
})

test('where nothing is there to ask about, the answers are unknown and say why', async () => {
  await using empty = await startEmulator({ channels: 2, viewers: 0, clock })
  const { answers, facts, made } = await probeOf(empty)
  const isTold = (name: string): boolean =>
    // By the echo of the page size, also of an empty page.
    /^list_params|^above_maximum (visitorList|signupRecord)/.test(name)
  const expected = Object.entries(usual).map(([name, answer]) => [name, isTold(name) ? answer : 'unknown'])
  expect(answers).toEqual(Object.fromEntries(expected))
  for (const { evidence } of facts) expect(evidence).not.toBe('')
  expect(made.length).toBeLessThanOrEqual(20)
})

test('a few rows show some things, and leave open what they cannot show', async () => {
  await using small = await startEmulator({ channels: 2, viewers: 6, clock })
  const { answers } = await probeOf(small)
  expect(answers).toMatchObject({
    'record_filter_time userRecordList': 'entry',
    'filter_ends userRecordList': 'both',
    'visitor_order visitorList': 'unknown',
    'past_last_page visitorList': 'empty',
    // By the echo of the page size alone.
    'above_maximum visitorList': 'the maximum',
    'above_maximum giftRunning': 'unknown',
    // Both lists are whole.
    'recurring_record_ids account': 'no',
  })
})

test('what the warehouse holds of two channels says whether ids recur', async () => {
  const held = { records: { channels: 2, ids: 9, recurring: 0 }, users: { channels: 2, ids: 9, recurring: 1 } }
  Object.assign(emulator.switches, defaultSwitches)
  const { answers } = await probeOf(emulator, { held })
  expect(answers).toMatchObject({ 'recurring_record_ids account': 'no', 'recurring_user_ids account': 'yes' })
})

test('times ahead of now show another zone; old ones leave it open', async () => {
  const zoneIn = async (timeZone: string) => {
    await using other = await startEmulator({ channels: 1, viewers: 200, clock, timeZone })
    const { facts } = await probeOf(other)
    return facts.find(({ topic }) => topic === 'zone')
  }
  expect(await zoneIn('Asia/Tokyo')).toMatchObject({
    answer: 'does not fit',
    evidence: 'newest record 2026-11-20 15:30 +08:00, 60 minutes ahead of now in Asia/Shanghai',
  })
  expect(await zoneIn('Asia/Jakarta')).toMatchObject({
    answer: null,
    evidence:
      'newest record 2026-11-20 13:30 +08:00, 60 minutes ago in Asia/Shanghai: nobody has watched since, or the zone is another',
  })
})

test('an endpoint that is closed to the account leaves its own questions open, and the others are answered', async () => {
  Object.assign(emulator.switches, defaultSwitches)
  emulator.faults.push({ effect: refusal(403002), endpoint: 'visitorList' })
  try {
    const { answers, facts, failures, made } = await probeOf(emulator)
    expect(answers).toMatchObject({ 'visitor_order visitorList': 'unknown', 'gift_visitor giftRunning': 'some' })
    expect(facts.find(({ topic }) => topic === 'visitor_order')?.evidence).toBe('no answer came (api.forbidden)')
    expect([...failures.keys()]).toEqual(['visitorList'])
    expect(made.filter(({ endpoint }) => endpoint === 'visitorList')).toHaveLength(1)
  } finally {
    emulator.faults.length = 0
  }
})

test('Retry-After of a refused call is remembered', async () => {
  Object.assign(emulator.switches, defaultSwitches)
  const effect = { name: 'busy', answer: () => busy }
  const busy = {
    ...jsonAnswer({ errors: { code: 429001, message: 'Touch rate limit' } }, 429),
    headers: { 'retry-after': '2' },
  }
  emulator.faults.push({ effect, endpoint: 'getQuestionList', times: 1 })
  const { answers } = await probeOf(emulator)
  expect(answers).toMatchObject({ 'retry_after account': '2 s' })
})

test('with all calls made, the rest is unknown', async () => {
  const { made, facts } = await probeOf(emulator, { mostCalls: 5 })
  expect(made).toHaveLength(5)
  expect(facts.find(({ topic }) => topic === 'visitor_order')).toMatchObject({
    answer: null,
    evidence: 'not asked: all 5 calls had been made',
  })
})

test('evidence holds no personal data', async () => {
  const { facts } = await probeOf(emulator)
  const text = facts.map(({ evidence }) => evidence).join('\n')
  const visitors = [...emulator.world.channels.values()].flatMap((channel) => channel.visitors.rows)
  const personal = visitors.flatMap(({ userId, nick, phone, lastIp }) => [userId, nick, phone ?? '', lastIp])
  expect(personal.filter((value) => value.length > 3 && text.includes(value))).toEqual([])
})
