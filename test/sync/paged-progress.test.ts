import { expect, test } from 'vitest'
import { addFailure, addPage, beginSlice, isLastPage, type ReadPage } from '../../src/sync/paged-progress.ts'
import { watchRecordsV1 } from '../../src/streams/watch-records-v1.ts'
import { autumn } from '../helpers/old-records.ts'
import { pageOf } from '../helpers/scripted-pages.ts'

const window = { from: autumn, to: autumn + 86_400 }
const slice = { stream: watchRecordsV1, partition: { channel: '9' }, window, covers: window }

function pageWith(keys: readonly string[], unreadable: readonly string[] = []): ReadPage {
  const rows = keys.map((key) => ({ record_id: key, entered_at: '2018-10-01 12:00:00' }))
  const rejected = unreadable.map((raw) => ({
    kind: 'rejected' as const,
    reason: 'no id',
    path: '',
    raw,
    headers: null,
  }))
  const items = Array.from({ length: keys.length + unreadable.length })
  return { ...pageOf(items), rows, keys, rejected, degraded: 0, unknownFields: new Set(), absentFields: new Set() }
}

test('a page counts what had not come before, and ends the days on which the slice failed', () => {
  const failed = addFailure(beginSlice(slice, new Date(0)), '2026-11-20')
  const first = addPage(failed, slice, pageWith(['1', '2', '3']), 'Asia/Shanghai')
  const second = addPage(first, slice, pageWith(['3', '4'], ['null']), 'Asia/Shanghai')
  expect(first).toMatchObject({ pagesRead: 1, pageSize: 3, foundRows: 3, failedDays: 0 })
  expect(second).toMatchObject({ pagesRead: 2, pageSize: 3, foundRows: 4, quarantinedRows: 1 })
})

test.each<[string, ReadPage, boolean]>([
  ['the same', pageWith(['1', '2', '3'], ['null']), true],
  ['the same in another order', pageWith(['1', '3', '2'], ['null']), false],
  ['one more', pageWith(['1', '2', '3', '4'], ['null']), false],
  ['one of them gone', pageWith(['1', '2'], ['null']), false],
  ['another that cannot be read', pageWith(['1', '2', '3'], ['{}']), false],
])('%s', (_what, again, expected) => {
  const state = addPage(beginSlice(slice, new Date(0)), slice, pageWith(['1', '2', '3'], ['null']), 'Asia/Shanghai')
  expect(isLastPage(state, again)).toBe(expected)
})

test('a day counts once, however often it fails on it', () => {
  const days = ['2026-11-20', '2026-11-20', '2026-11-21']
  expect(days.reduce(addFailure, beginSlice(slice, new Date(0)))).toMatchObject({
    failedDays: 2,
    failedOn: '2026-11-21',
  })
})
