import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Row } from '../../src/core/column.ts'
import { type Window, widen } from '../../src/core/slice.ts'
import { MINUTE, parseWallTime } from '../../src/core/wall-clock.ts'
import { identifyRows } from '../../src/sync/identify-rows.ts'
import { isInWindow } from '../../src/sync/row-window.ts'
import { gifts } from '../../src/streams/gifts.ts'
import { signups } from '../../src/streams/signups.ts'
import { checkProperty } from '../helpers/check-property.ts'
import { readIdentified, readItems } from '../helpers/read-items.ts'

const ZONE = 'Asia/Shanghai'
const START = parseWallTime('2026-11-20 10:00') ?? 0

interface GiftItem {
  readonly uptime: unknown
  readonly gift_id: unknown
  readonly money: unknown
  readonly phone?: unknown
  readonly visitor_id?: unknown
  readonly name?: unknown
}

const times = ['2026-11-20 10:00:00', '2026-11-20 10:00:59', '2026-11-20 10:01', '2026-11-20 10:01:00']
const anyTime = fc.constantFrom<unknown>(...times, '2026-11-20 10:02:30', '2026-11-20 10:05:00')
const anyPerson = fc.constantFrom<unknown>(undefined, null, '', '13000000000', '13900000000')
const giftItem: fc.Arbitrary<GiftItem> = fc.record({
  uptime: anyTime,
  gift_id: fc.constantFrom<unknown>(27, '27', 101, null),
  money: fc.constantFrom<unknown>('0.10', '0.1', 0.1, '5.20', null),
  phone: anyPerson,
  visitor_id: anyPerson,
  name: anyPerson,
})
const giftItems = fc.array(giftItem, { maxLength: 30 })

const byKey = (column: string, rows: readonly Row[]) =>
  [...new Map(rows.map((row) => [String(row[column]), row]))].sort(([a], [b]) => (a < b ? -1 : 1))
const giftRows = (items: readonly GiftItem[]) => byKey('gift_key', readIdentified(gifts, items))
const keysOf = (rows: readonly (readonly [string, Row])[]) => rows.map(([key]) => key)

/** The rows of a window: it is asked for with an overlap on both sides, and keeps what lies in it. */
function readWindow(items: readonly GiftItem[], window: Window): readonly Row[] {
  const asked = widen(window, MINUTE)
  const received = readItems(gifts, items).filter((row) => isInWindow(row.given_at, asked, ZONE))
  const kept = received.filter((row) => isInWindow(row.given_at, window, ZONE))
  return gifts.identity ? identifyRows(gifts, gifts.identity, kept, ZONE) : []
}

describe('gifts', () => {
  test('every gift is a row of its own key: two equal gifts in one second are two', () => {
    checkProperty(
      'as many keys as gifts',
      fc.property(giftItems, (items) => {
        expect(giftRows(items)).toHaveLength(items.length)
      }),
    )
    const twin = { uptime: '2026-11-20 10:00:00', gift_id: 27, money: '0.10', phone: '1' }
    expect(readIdentified(gifts, [twin, twin, twin]).map(({ occurrence }) => occurrence)).toEqual([1, 2, 3])
  })

  test('the order in which the pages bring them does not matter', () => {
    const shuffled = giftItems.chain((items) =>
      fc.record({
        items: fc.constant(items),
        again: fc.shuffledSubarray(items, { minLength: items.length, maxLength: items.length }),
      }),
    )
    checkProperty(
      'any order',
      fc.property(shuffled, ({ items, again }) => {
        expect(giftRows(again)).toEqual(giftRows(items))
      }),
    )
  })

  test('windows cut anywhere at a minute, asked for with overlap, bring the same rows as one reading of all', () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 4 })
    checkProperty(
      'any cut and overlap',
      fc.property(giftItems, cuts, (items, minutes) => {
        const bounds = [0, ...minutes.toSorted((a, b) => a - b), 10].map((minute) => START + minute * MINUTE)
        const windows = bounds.slice(1).map((to, index) => ({ from: bounds[index] ?? START, to }))
        const parts = windows.flatMap((window) => readWindow(items, window))
        expect(byKey('gift_key', parts)).toEqual(giftRows(items))
        expect(parts).toHaveLength(items.length)
      }),
    )
  })

  test('a phone, a viewer or a name that appears, changes or goes later updates in place and inserts none', () => {
    const later = fc.record({ phone: anyPerson, visitor_id: anyPerson, name: anyPerson })
    const pairs = fc.array(fc.record({ item: giftItem, change: fc.option(later) }), { maxLength: 30 })
    checkProperty(
      'what changes later keeps the keys',
      fc.property(pairs, (all) => {
        const before = all.map(({ item }) => item)
        const after = all.map(({ item, change }) => ({ ...item, ...change }))
        expect(keysOf(giftRows(after))).toEqual(keysOf(giftRows(before)))
      }),
    )
  })

  test('gifts given to the minute stay twins when the service says seconds for others', () => {
    const rows = readIdentified(gifts, [
      { uptime: '2026-11-20 10:01', gift_id: 27, money: '1.00', phone: 'b' },
      { uptime: '2026-11-20 10:01', gift_id: 27, money: '1.00', phone: 'a' },
      { uptime: '2026-11-20 10:01:30', gift_id: 27, money: '1.00', phone: 'a' },
    ])
    expect(rows.map(({ phone, given_at, occurrence }) => [phone, given_at, occurrence])).toEqual([
      ['a', '2026-11-20 10:01:00', 1],
      ['b', '2026-11-20 10:01:00', 2],
      ['a', '2026-11-20 10:01:30', 1],
    ])
  })

  test('equal amounts are equal however they are written, and nothing is nothing: empty, null or missing', () => {
    const uptime = '2026-11-20 10:00:00'
    const written = [
      { uptime, gift_id: 27, money: '0.10', phone: '' },
      { uptime, gift_id: '27', money: '0.1', phone: null },
      { uptime: '2026-11-20T10:00', gift_id: 27, money: 0.1 },
    ]
    expect(new Set(written.map((item) => JSON.stringify(readIdentified(gifts, [item]))))).toHaveProperty('size', 1)
    expect(readIdentified(gifts, written).map(({ occurrence }) => occurrence)).toEqual([1, 2, 3])
  })

  test('a time that comes with seconds later, and back, keeps the keys', () => {
    checkProperty(
      'precision',
      fc.property(giftItems, (items) => {
        const toTheMinute = items.map((item) => ({ ...item, uptime: String(item.uptime).slice(0, 16) }))
        expect(keysOf(giftRows(toTheMinute))).toEqual(keysOf(giftRows(items)))
      }),
    )
  })
})

describe('signups', () => {
  const cell = fc.constantFrom<unknown>('', null, 'a', 'b||c', 'd "e"\n')
  const headers = fc.array(fc.constantFrom('公司', '公司', '手机号', '', '"?"'), { maxLength: 4 })
  const person = fc.record({
    user: fc.constantFrom('u1', 'u2', ''),
    time: fc.constantFrom('2026-11-20 10:00:00', '2026-11-20 10:00', '2026-11-20 10:00:01'),
    nick: cell,
    phone: cell,
  })
  interface Person {
    readonly user: string
    readonly time: string
    readonly nick: unknown
    readonly phone: unknown
  }

  /** The keys of signups under headers, each question answered with one of `answers` in turn. */
  const keysUnder = (
    questions: readonly string[],
    people: readonly Person[],
    answers: readonly unknown[],
  ): string[] => {
    const cells = people.map(({ user, nick, phone, time }, row) => [
      user,
      nick,
      phone,
      ...questions.map((_, column) => answers[(row + column) % answers.length]),
      time,
    ])
    const title = ['用户ID', '昵称', '手机号', ...questions, '报名时间']
    return keysOf(byKey('signup_key', readIdentified(signups, cells, { title })))
  }

  test('an edited answer, a question added, removed, renamed or moved later inserts none', () => {
    const answers = fc.array(cell, { minLength: 1, maxLength: 5 })
    const people = fc.array(person, { maxLength: 12 })
    checkProperty(
      'the form and the answers may change',
      fc.property(people, headers, headers, answers, answers, (who, before, after, first, second) => {
        const keys = keysUnder(before, who, first)
        expect(keysUnder(after, who, second)).toEqual(keys)
        expect(keys).toHaveLength(who.length)
      }),
    )
  })

  test('another nickname or phone inserts none', () => {
    const people = fc.array(fc.record({ who: person, nick: cell, phone: cell }), { maxLength: 12 })
    checkProperty(
      'a person may say who they are later',
      fc.property(people, (all) => {
        const before = all.map(({ who }) => who)
        const after = all.map(({ who, nick, phone }) => ({ ...who, nick, phone }))
        expect(keysUnder(['公司'], after, ['x'])).toEqual(keysUnder(['公司'], before, ['x']))
      }),
    )
  })

  test('signups of one second are numbered by their answers one by one, not by their text as JSON', () => {
    const title = ['id', 'nick', 'phone', 'q', 'time']
    const time = '2026-11-20 10:00:00'
    const rows = readIdentified(
      signups,
      ['"', 'a', '', '!'].map((answer) => ['u', 'n', 'p', answer, time]),
      { title },
    )
    expect(rows.map(({ answers }) => JSON.parse(String(answers))[0].answer)).toEqual([null, '!', '"', 'a'])
  })
})
