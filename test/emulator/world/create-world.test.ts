import { describe, expect, test } from 'vitest'
import { parseWallTime } from '../../../src/core/wall-clock.ts'
import { createWorld } from '../../../src/emulator/world/create-world.ts'
import type { Channel, World } from '../../../src/emulator/world/world.ts'

const ENDS_AT = parseWallTime('2026-11-20 14:30') ?? 0
const OPTIONS = { seed: 1, channels: 3, viewers: 400, days: 30, endsAt: ENDS_AT, timeZone: 'Asia/Shanghai' }

const channelsOf = (world: World): Channel[] => [...world.channels.values()]

/** Everything in it, as text. */
function print(world: World): string {
  const lists = channelsOf(world).map((channel) => [
    { ...channel, menus: [...channel.menus] },
    [channel.visitors.rows, channel.records.rows, channel.oldRecords.rows, channel.gifts.rows],
    channel.questionnaires.rows.map((form) => [form, form.signups.rows]),
  ])
  return JSON.stringify([lists, world.managers.rows, [...world.videoIds]])
}

describe('the same options give the same world', () => {
  test('to the last byte', () => {
    expect(print(createWorld(OPTIONS))).toBe(print(createWorld(OPTIONS)))
  })

  test.each([{ seed: 2 }, { viewers: 401 }, { days: 31 }, { endsAt: ENDS_AT + 60 }])('%j gives another', (change) => {
    expect(print(createWorld({ ...OPTIONS, ...change }))).not.toBe(print(createWorld(OPTIONS)))
  })

  test('more channels leave those before them as they are', () => {
    const [first] = channelsOf(createWorld(OPTIONS))
    const [same] = channelsOf(createWorld({ ...OPTIONS, channels: 5 }))
    expect(same?.records.rows).toEqual(first?.records.rows)
    expect(same?.gifts.rows).toEqual(first?.gifts.rows)
  })
})

describe('visitors agree with their watch records', () => {
  test('sums, first entry, last leave and number of visits', () => {
    for (const channel of channelsOf(createWorld(OPTIONS))) {
      const records = Map.groupBy(channel.records.rows, (row) => row.userId)
      expect(channel.visitors.rows).toHaveLength(OPTIONS.viewers)
      expect(records.size).toBe(OPTIONS.viewers)
      for (const visitor of channel.visitors.rows) {
        const own = records.get(visitor.userId) ?? []
        const sum = (field: 'watchSeconds' | 'liveSeconds' | 'vodSeconds' | 'onlineSeconds') =>
          own.reduce((total, row) => total + row[field], 0)
        expect(visitor).toMatchObject({
          visitTimes: own.length,
          watchSeconds: sum('watchSeconds'),
          liveSeconds: sum('liveSeconds'),
          vodSeconds: sum('vodSeconds'),
          onlineSeconds: sum('onlineSeconds'),
          firstLoginAt: Math.min(...own.map((row) => row.enteredAt)),
          lastOnlineAt: Math.max(...own.map((row) => row.leftAt)),
        })
      }
    }
  })

  test('each record is a possible visit', () => {
    const records = channelsOf(createWorld(OPTIONS)).flatMap((channel) => channel.records.rows)
    const impossible = records.filter(
      (row) =>
        row.leftAt < row.enteredAt ||
        row.leftAt > ENDS_AT ||
        row.onlineSeconds !== row.leftAt - row.enteredAt ||
        row.watchSeconds !== row.liveSeconds + row.vodSeconds ||
        row.watchSeconds > row.onlineSeconds,
    )
    expect(impossible).toEqual([])
  })
})

describe('it looks like the real thing', () => {
  const channels = channelsOf(createWorld(OPTIONS))
  const records = channels.flatMap((channel) => channel.records.rows)
  const visitors = channels.flatMap((channel) => channel.visitors.rows)

  test('an audience comes, peaks and goes', () => {
    const [first] = channels
    const inside = (at: number) =>
      first?.records.rows.filter((row) => row.enteredAt <= at && row.leftAt > at).length ?? 0
    const counts = Array.from({ length: 24 * 60 }, (_, minute) => inside(ENDS_AT - minute * 60))
    expect(Math.max(...counts)).toBeGreaterThan(10)
    expect(counts.filter((count) => count < 3).length).toBeGreaterThan(12 * 60)
  })

  test('the history ends now and begins so many days before', () => {
    const newest = Math.max(...records.map((row) => row.leftAt))
    const oldest = Math.min(...records.map((row) => row.enteredAt))
    expect(newest).toBe(ENDS_AT)
    expect((ENDS_AT - oldest) / 86_400).toBeGreaterThan(25)
    expect((ENDS_AT - oldest) / 86_400).toBeLessThan(31)
  })

  test('viewers come back, some of them to several channels', () => {
    expect(visitors.some((row) => row.visitTimes > 5)).toBe(true)
    const [first, second] = channels.map((channel) => new Set(channel.visitors.rows.map((row) => row.userId)))
    expect(first?.intersection(second ?? new Set()).size).toBe(40)
  })

  test('user ids, record ids and question ids are unique where they must be', () => {
    expect(new Set(records.map((row) => row.recordId)).size).toBe(records.length)
    for (const { visitors } of channels) expect(new Set(visitors.rows.map((row) => row.userId)).size).toBe(400)
    const forms = channels.flatMap((channel) => channel.questionnaires.rows)
    expect(new Set(forms.map((form) => form.questionId)).size).toBe(forms.length)
  })

  test('emoji, anonymous names, both kinds of address, phones and none', () => {
    expect(visitors.some((row) => /\p{Extended_Pictographic}/u.test(row.nick))).toBe(true)
    expect(visitors.some((row) => row.nick === '浙江省网友')).toBe(true)
    expect(visitors.some((row) => row.lastIp.includes(':'))).toBe(true)
    expect(visitors.some((row) => /^1\d{10}$/.test(row.phone ?? ''))).toBe(true)
    expect(new Set(visitors.map((row) => (row.phone === '' ? '' : row.phone === null ? null : 'phone'))).size).toBe(3)
    expect(records.some((row) => row.onlineSeconds > 86_400)).toBe(true)
    expect(records.some((row) => row.watchSeconds === 0)).toBe(true)
  })

  test('equal gifts within one second, of both types', () => {
    const gifts = channels.flatMap((channel) => channel.gifts.rows)
    const twins = Map.groupBy(gifts, (gift) => JSON.stringify([gift.type, gift.givenAt, gift.giftId, gift.money]))
    expect([...twins.values()].some((group) => group.length > 1)).toBe(true)
    expect(new Set(gifts.map((gift) => gift.type))).toEqual(new Set(['cash', 'prop']))
    expect(gifts.filter((gift) => !/^\d+\.\d\d$/.test(gift.money))).toEqual([])
  })

  test('odd headers, and cells in the number of the headers', () => {
    const forms = channels.flatMap((channel) => channel.questionnaires.rows)
    const headers = forms.flatMap((form) => form.questions)
    expect(headers).toEqual(expect.arrayContaining(['', '手机号', expect.stringMatching(/\n/), '长'.repeat(200)]))
    expect(forms.some((form) => new Set(form.questions).size < form.questions.length)).toBe(true)
    for (const form of forms) {
      for (const signup of form.signups.rows) expect(signup.answers).toHaveLength(form.questions.length)
    }
    expect(
      forms.flatMap((form) => form.signups.rows).some((row) => row.answers.some((cell) => cell.includes('||'))),
    ).toBe(true)
  })

  test('old records lie before December 2018', () => {
    const old = channels.flatMap((channel) => channel.oldRecords.rows)
    expect(old.length).toBeGreaterThan(20)
    expect(Math.max(...old.map((row) => row.leftAt))).toBeLessThan(parseWallTime('2018-12-01') ?? 0)
  })

  test('managers with empty times and digits as names', () => {
    const { rows } = createWorld(OPTIONS).managers
    expect(rows[0]).toMatchObject({ username: '009', lastLoginAt: null, lastPushAt: null })
    expect(rows.some((row) => row.lastPushAt !== null)).toBe(true)
    expect(new Set(rows.map((row) => row.limitType))).toEqual(new Set([1, 2]))
  })
})

test.each([{ viewers: 0 }, { viewers: 1, days: 1 }, { channels: 1, viewers: 8, days: 1 }])(
  'a small world stands: %j',
  (change) => {
    const world = createWorld({ ...OPTIONS, ...change })
    const records = channelsOf(world).flatMap((channel) => channel.records.rows)
    expect(records.every((row) => row.enteredAt <= row.leftAt && row.leftAt <= ENDS_AT)).toBe(true)
  },
)
