import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Page } from '../../src/core/page.ts'
import { allStreams } from '../../src/streams/registry.ts'
import { visitors } from '../../src/streams/visitors.ts'
import { fieldNames, itemReader } from '../../src/transform/field.ts'

const page: Page = {
  items: [],
  total: undefined,
  echoedPage: undefined,
  echoedPageSize: undefined,
  title: undefined,
  serviceTimeMs: undefined,
}
const context = { partition: { channel: '9', type: 'cash', question: 'q1' }, serviceDay: '2026-11-20' }
const readVisitor = itemReader(visitors, context)

describe('itemReader', () => {
  test('an unreadable field becomes NULL and stands raw in extra, beside the fields that the spec does not know', () => {
    const read = readVisitor({ user_id: 'u', watch_time: '1:2', vip_level: 3, ad_watch_time: 9 }, page)
    expect(read).toMatchObject({
      kind: 'row',
      row: { user_id: 'u', watch_seconds: null, extra: '{"vip_level":3,"watch_time":"1:2"}' },
      unreadFields: ['watch_time'],
      unknownFields: ['vip_level'],
    })
  })

  test('a row with nothing odd has no extra', () => {
    expect(readVisitor({ user_id: 'u', nick: '' }, page)).toMatchObject({ row: { nickname: null, extra: null } })
  })

  test.each([null, 7, 'x', [], true])('an item that is %j is rejected', (item) => {
    expect(readVisitor(item, page)).toMatchObject({ kind: 'rejected', path: '' })
  })

  test.each([{}, { user_id: '' }, { user_id: {} }])('a visitor %j has no key', (item) => {
    expect(readVisitor(item, page)).toMatchObject({ kind: 'rejected', path: 'user_id' })
  })

  test('a visitor of another channel is rejected, of a channel asked for by another name it is not', () => {
    expect(readVisitor({ user_id: 'u', id: 10 }, page)).toMatchObject({ kind: 'rejected', path: 'id' })
    const readHashed = itemReader(visitors, { ...context, partition: { channel: 'exov5dm9' } })
    expect(readHashed({ user_id: 'u', id: 10 }, page)).toMatchObject({ kind: 'row' })
  })
})

const isZero = (raw: unknown): boolean => typeof raw === 'string' && /^(\0+|0000-00-00.*)$/.test(raw)

const extremes = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>('', '\u0000', '\ud800', '👍', '0000-00-00 00:00:00', '24:00:00', '00:60:00', '125:03:09'),
  fc.constantFrom<unknown>('-00:00:01', '2025-02-29 10:00', '1,234.00', '0.125', -1, 1e308, 9_007_199_254_740_993n),
  fc.constantFrom<unknown>(undefined, 'x'.repeat(100_000), { __proto__: null, a: 1 }, [[]], -0, 0.1),
  fc.bigInt(),
  fc.double(),
)

describe.each(allStreams.map((stream) => [stream.name, stream] as const))('%s', (_name, stream) => {
  const fields = fieldNames(stream.columns)
  const read = itemReader(stream, context)

  test('any value in any field is a value, or NULL with the raw value in extra, or a rejection', () => {
    const items = fc.record(Object.fromEntries([...fields, 'odd', 'odder'].map((field) => [field, extremes])), {
      requiredKeys: [],
    })
    fc.assert(
      fc.property(items, (item) => {
        const result = read(item, page)
        if (result.kind === 'rejected') return
        const extra = JSON.parse(result.row.extra === null ? '{}' : String(result.row.extra))
        for (const [name, { source }] of Object.entries(stream.columns)) {
          if (source.kind !== 'field') continue
          const raw: unknown = item[source.field]
          const isNothing = raw === undefined || raw === null || raw === '' || isZero(raw)
          const isKept = result.row[name] !== null || isNothing || Object.hasOwn(extra, source.field)
          expect(isKept, source.field).toBe(true)
        }
        for (const odd of ['odd', 'odder']) expect(Object.hasOwn(extra, odd)).toBe(item[odd] !== undefined)
        expect(read(item, page)).toEqual(result)
      }),
    )
  })
})
