import { expect, test } from 'vitest'
import type { Row } from '../../../src/core/column.ts'
import type { StreamName } from '../../../src/core/stream.ts'
import { findStream } from '../../../src/streams/registry.ts'
import { hasChangedSince } from '../../../src/sync/audit/judge-rows.ts'

/** 14:30 in Shanghai. */
const READ_AT = new Date('2026-11-20T06:30:00Z')
/** Directly after the reading, and an hour later. */
const AT_ONCE = { timeZone: 'Asia/Shanghai', nowMs: READ_AT.getTime() + 60_000 }
const LATER = { timeZone: 'Asia/Shanghai', nowMs: READ_AT.getTime() + 3_600_000 }
const BEFORE = '2026-11-20 14:00:00'
const AFTER = '2026-11-20 14:40:00'

function isSince(
  name: StreamName,
  kind: 'missing' | 'changed',
  row: Row,
  columns: readonly string[] = ['nickname'],
  now = AT_ONCE,
) {
  const stream = findStream(name)
  if (stream === undefined) throw new Error(`no stream ${name}`)
  const cells = columns.map((column) => ({ column, warehouse: 'a', source: 'b' }))
  return hasChangedSince(stream, { kind, row, cells }, READ_AT, now)
}

test.each<[StreamName, 'missing' | 'changed', Row, boolean]>([
  ['visitors', 'missing', { first_login_at: BEFORE, last_online_at: AFTER }, false],
  ['visitors', 'missing', { first_login_at: AFTER, last_online_at: AFTER }, true],
  ['visitors', 'missing', { first_login_at: null, last_online_at: null }, false],
  ['visitors', 'changed', { first_login_at: BEFORE, last_online_at: BEFORE }, false],
  ['visitors', 'changed', { first_login_at: BEFORE, last_online_at: AFTER }, true],
  ['watch_records', 'missing', { entered_at: BEFORE, left_at: BEFORE }, false],
  ['watch_records', 'missing', { entered_at: BEFORE, left_at: AFTER }, true],
  ['watch_records', 'changed', { entered_at: BEFORE, left_at: '2026-11-20 14:26:00' }, true],
  ['watch_records', 'changed', { entered_at: BEFORE, left_at: '2026-11-20 14:24:00' }, false],
  ['gifts', 'missing', { given_at: BEFORE }, false],
  ['gifts', 'changed', { given_at: AFTER }, false],
  ['signups', 'missing', { signed_up_at: AFTER }, true],
  ['managers', 'missing', {}, false],
  ['managers', 'changed', {}, false],
  ['manager_usage', 'missing', { created_on: '2026-11-19' }, false],
  ['manager_usage', 'missing', { created_on: '2026-11-21' }, true],
])('%s, %s: %j may have come about since it was read: %s', (name, kind, row, expected) => {
  expect(isSince(name, kind, row)).toBe(expected)
})

test.each<[StreamName, boolean]>([
  ['questionnaires', true],
  ['managers', true],
  ['manager_usage', true],
  ['gifts', false],
])('%s may have been edited since they were read, but not within minutes: %s', (name, expected) => {
  expect(isSince(name, 'changed', {}, ['name'], LATER)).toBe(expected)
  expect(isSince(name, 'changed', {}, ['name'], AT_ONCE)).toBe(false)
})

test('usage moves by itself, but not the name of a manager; what was never read is new', () => {
  expect(isSince('manager_usage', 'changed', {}, ['cost_total_watch', 'last_login_at'])).toBe(true)
  expect(isSince('manager_usage', 'changed', {}, ['cost_total_watch', 'username'])).toBe(false)
  const stream = findStream('managers')
  expect(stream && hasChangedSince(stream, { kind: 'missing', row: {}, cells: [] }, undefined, LATER)).toBe(true)
})
