import { describe, expect, test } from 'vitest'
import { LivehouseError } from '../../src/core/errors.ts'
import type { FetchPage, ListRequest, Page } from '../../src/core/page.ts'
import { createReadAhead } from '../../src/pipeline/read-ahead.ts'
import { pagesOfTwins, readBareList } from '../../src/pipeline/read-bare-list.ts'
import { errorOf, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { pageOf, scriptPages } from '../helpers/scripted-pages.ts'

const SIZE = 4
const list: ListRequest = { endpoint: 'giftRunning', channelId: '9', type: 'cash' }

async function readList(fetchPage: FetchPage) {
  const reported: Page[] = []
  const reading = {
    fetchPage,
    list,
    pageSize: SIZE,
    readAhead: createReadAhead(3, createFakeClock()),
    context: openContext(),
  }
  const read = await readBareList(reading, (page) => reported.push(page))
  if (read === undefined) throw new Error('nothing bounds the list')
  const { pages, doubt } = read
  expect(reported).toEqual(pages)
  return { items: pages.flatMap(({ items }) => items), doubt }
}

const numbered = (count: number): unknown[] => Array.from({ length: count }, (_, id) => ({ id }))
const cut = (items: readonly unknown[], page: number, size = SIZE) =>
  pageOf(items.slice((page - 1) * size, page * size))
const refused = (status: number) => new LivehouseError('api.status', 'refused', { call: 'x', status, reason: '' })

describe('a list that stands still', () => {
  test.each([
    [0, [1, 2]],
    [1, [1, 2]],
    [3, [1, 2]],
    [4, [1, 2, 1]],
    [5, [1, 2, 1, 2]],
    [8, [1, 2, 3, 1, 2]],
    [11, [1, 2, 3, 1, 3]],
  ])('of %i items is read to its end and looked at again: pages %j', async (count, calls) => {
    const { fetchPage, asked } = scriptPages(({ page }) => cut(numbered(count), page))
    expect(await readList(fetchPage)).toEqual({ items: numbered(count), doubt: undefined })
    expect(asked).toEqual(calls)
  })

  test('served in smaller pages than asked for is read to its end', async () => {
    const { fetchPage } = scriptPages(({ page }) => cut(numbered(8), page, 3))
    expect(await readList(fetchPage)).toEqual({ items: numbered(8), doubt: undefined })
  })

  test.each([1, 3, 5, 8, 9])('of %i items ends where the last page comes again', async (count) => {
    const last = Math.ceil(count / SIZE)
    const { fetchPage } = scriptPages(({ page }) => cut(numbered(count), Math.min(page, last)))
    expect(await readList(fetchPage)).toEqual({ items: numbered(count), doubt: undefined })
  })

  test.each([400, 404])('ends where the service refuses the page past the end with %i', async (status) => {
    const { fetchPage } = scriptPages(({ page }) => {
      if (page > 2) throw refused(status)
      return cut(numbered(8), page)
    })
    expect(await readList(fetchPage)).toEqual({ items: numbered(8), doubt: undefined })
  })

  test.each([400, 404])(
    'has no first page where that is refused with %i: an error, never an empty list',
    async (status) => {
      const { fetchPage } = scriptPages(() => {
        throw refused(status)
      })
      expect(await errorOf(readList(fetchPage))).toMatchObject({ code: 'api.status' })
    },
  )

  test.each<[string, LivehouseError]>([
    ['a server error', refused(500)],
    ['an object or null in place of the array', new LivehouseError('api.badShape', 'x', { call: 'x', reason: '' })],
    ['an envelope with an unknown code', new LivehouseError('api.refused', 'x', { call: 'x', code: 2001, reason: '' })],
    ['a refusal for the moment', new LivehouseError('api.rateLimited', 'x', { call: 'x' })],
    [
      'a channel that is not known',
      new LivehouseError('api.channelUnknown', 'x', { call: 'x', channelId: '9', reason: '' }),
    ],
  ])('is never ended by %s', async (_what, error) => {
    for (const bad of [1, 2, 3]) {
      const { fetchPage } = scriptPages(({ page }) => {
        if (page === bad) throw error
        return cut(numbered(8), page)
      })
      expect(await errorOf(readList(fetchPage))).toBe(error)
    }
  })

  test('with two equal records on two pages is clean: those pages are looked at again', async () => {
    const items = [...numbered(4), { id: 3 }, ...numbered(9)]
    const { fetchPage, asked } = scriptPages(({ page }) => cut(items, page))
    expect(await readList(fetchPage)).toEqual({ items, doubt: undefined })
    expect(asked).toEqual([1, 2, 3, 4, 1, 4, 2, 3])
  })

  test('with a full page 2 that is page 1 again has a page parameter that is ignored', async () => {
    const { fetchPage } = scriptPages(() => cut(numbered(4), 1))
    expect(await errorOf(readList(fetchPage))).toMatchObject({ code: 'paging.ignored', details: { parameter: 'page' } })
  })
})

describe('a list that moves while it is read', () => {
  /** The list as it is from one call on: the record `new` stands at `place` from then. */
  const serveWith = (place: number, fromCall: number, length: number) =>
    scriptPages(({ page }, call) => {
      const items = numbered(length)
      if (call >= fromCall) items.splice(place, 0, { id: 'new' })
      return cut(items, page)
    })

  test.each([6, 8, 11, 12])(
    'of %i items: a record that arrives at any place at any moment is never a reason for a twin',
    async (length) => {
      for (let place = 0; place <= length; place++) {
        for (let fromCall = 2; fromCall <= 8; fromCall++) {
          const { items, doubt } = await readList(serveWith(place, fromCall, length).fetchPage)
          const ids = items.map((item) => JSON.stringify(item))
          const isClean = new Set(ids).size === ids.length
          expect(isClean || doubt !== undefined, `arrives at ${place} from call ${fromCall} on`).toBe(true)
          const isComplete = numbered(length).every((item) => ids.includes(JSON.stringify(item)))
          expect(isComplete || doubt !== undefined, `arrives at ${place} from call ${fromCall} on`).toBe(true)
        }
      }
    },
  )

  test.each([
    ['on the first page', 0, 'page 1 changed'],
    ['as the last of the first page', 3, 'page 1 changed'],
    ['in the middle', 5, 'page 2 changed'],
    ['as the last of a page in the middle', 7, 'page 2 changed'],
  ])('a record that arrives %s after it was read is told by that page', async (_where, place, doubt) => {
    const fromCall = place < 4 ? 2 : 3
    expect((await readList(serveWith(place, fromCall, 15).fetchPage)).doubt).toContain(doubt)
  })

  test('a record that arrives where nothing has been read yet is no doubt: it is simply read', async () => {
    const { items, doubt } = await readList(serveWith(10, 2, 10).fetchPage)
    expect(doubt).toBeUndefined()
    expect(items).toContainEqual({ id: 'new' })
  })

  test('a record that goes from the first page is told, and one that shortens the list past its last page too', async () => {
    const first = scriptPages(({ page }, call) => cut(numbered(10).slice(call > 1 ? 1 : 0), page))
    expect((await readList(first.fetchPage)).doubt).toContain('page 1 changed')
    const last = scriptPages(({ page }, call) => {
      const items = numbered(call > 4 ? 8 : 9)
      if (page > Math.ceil(items.length / SIZE)) throw refused(400)
      return cut(items, page)
    })
    expect((await readList(last.fetchPage)).doubt).toContain('page 3 changed')
  })

  test('a record that goes from a single full page, and so draws the last one into it, is told', async () => {
    const { fetchPage } = scriptPages(({ page }, calls) => cut(numbered(5).slice(calls > 1 ? 1 : 0), page))
    expect((await readList(fetchPage)).doubt).toBe('page 1 changed while the list was read')
  })

  test('a record that says more than before on the page that is read again is told', async () => {
    const { fetchPage } = scriptPages(({ page }, call) =>
      cut([{ id: 0, phone: call > 2 ? '1' : '' }, ...numbered(6)], page),
    )
    expect((await readList(fetchPage)).doubt).toContain('page 1 changed')
  })

  test('page 1 empty and page 2 not, or a short page before the last, is no clean reading', async () => {
    const late = scriptPages(({ page }) => pageOf(page === 2 ? numbered(1) : []))
    expect(await readList(late.fetchPage)).toEqual({ items: [], doubt: 'page 1 was empty, and page 2 was not' })
    const sizes = [2, 4, 1]
    const uneven = scriptPages(({ page }) => pageOf(numbered(sizes[page - 1] ?? 0).map((item) => ({ page, item }))))
    expect((await readList(uneven.fetchPage)).doubt).toContain('different sizes came: 2, 4, 1')
  })
})

test('items are equal by what they hold, exactly: digits beyond 2^53 and any depth', () => {
  const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
  const pages = [
    pageOf([{ id: 9_007_199_254_740_993n }, deep(100_000)]),
    pageOf([{ id: 9_007_199_254_740_992n }, deep(100_001)]),
    pageOf([deep(100_000)]),
  ]
  expect(pagesOfTwins(pages)).toEqual([1, 3])
})
