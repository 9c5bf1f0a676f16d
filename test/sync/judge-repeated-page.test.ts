import { expect, test } from 'vitest'
import { judgeRepeatedPage } from '../../src/sync/judge-repeated-page.ts'
import { addPage, beginSlice, isLastPage, type ReadPage } from '../../src/sync/paged-progress.ts'
import { watchRecordsV1 } from '../../src/streams/watch-records-v1.ts'
import { pageOf } from '../helpers/scripted-pages.ts'

const window = { from: 0, to: 60 }
const slice = { stream: watchRecordsV1, partition: { channel: '9' }, window, covers: window }
const unreadable = { kind: 'rejected', reason: 'no id', path: '', raw: 'null', headers: null } as const

/** Items that are numbers have them as keys; null cannot be read. */
function pageWith(items: readonly (number | null)[]): ReadPage {
  const keys = items.flatMap((item) => (item === null ? [] : [String(item)]))
  const rejected = items.flatMap((item) => (item === null ? [unreadable] : []))
  return {
    ...pageOf([...items]),
    rows: keys.map((key) => ({ record_id: key })),
    keys,
    rejected,
    degraded: 0,
    unknownFields: new Set(),
    absentFields: new Set(),
  }
}

type Serve = (items: readonly (number | null)[], page: number, size: number) => readonly (number | null)[]
const cut: Serve = (items, page, size) => items.slice((page - 1) * size, page * size)
const repeatsLast: Serve = (items, page, size) => cut(items, Math.min(page, Math.ceil(items.length / size)), size)
const ignoresPage: Serve = (items, _page, size) => cut(items, 1, size)
const ignoresBoth: Serve = (items) => items.slice(0, 3)
/** No page after the second one is served; the second comes in its place. */
const noDeeperThanTwo: Serve = (items, page, size) => cut(items, Math.min(page, 2), size)

const seven = [1, 2, 3, 4, 5, 6, 7]
test.each<[string, readonly (number | null)[], number, Serve, 'end' | 'moved' | 'ignored']>([
  ['a full last page', [1, 2, 3, 4, 5, 6], 3, repeatsLast, 'end'],
  ['a last page that is not full', seven, 3, repeatsLast, 'end'],
  ['one row', [1], 3, repeatsLast, 'end'],
  ['two rows', [1, 2], 2, repeatsLast, 'end'],
  ['an item that cannot be read', [null, 2, 3], 3, repeatsLast, 'end'],
  ['an ignored page parameter', seven, 3, ignoresPage, 'ignored'],
  ['ignored parameters both', seven, 3, ignoresBoth, 'ignored'],
  ['a service that goes no deeper', [...seven, 8, 9], 3, noDeeperThanTwo, 'ignored'],
])('%s', async (_what, items, size, serve, meaning) => {
  let state = beginSlice(slice, new Date(0))
  let page = pageWith(serve(items, 1, size))
  for (let number = 2; number === 2 || !isLastPage(state, page); number++) {
    state = addPage(state, slice, page, 'Asia/Shanghai')
    page = pageWith(serve(items, number, size))
  }
  const read = async (number: number, pageSize: number) => pageWith(serve(items, number, pageSize))
  expect(await judgeRepeatedPage(state, page, read)).toBe(meaning)
})

test('rows that had not come before: the list has grown by as much as a page', async () => {
  const state = addPage(beginSlice(slice, new Date(0)), slice, pageWith([1, 2, 3]), 'Asia/Shanghai')
  const read = async (number: number, size: number) => pageWith(cut([-2, -1, 0, 1, 2, 3], number, size))
  expect(await judgeRepeatedPage(state, pageWith([1, 2, 3]), read)).toBe('moved')
})
