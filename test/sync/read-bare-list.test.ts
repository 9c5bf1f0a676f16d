import { describe, expect, test } from 'vitest'
import { LivehouseError } from '../../src/core/errors.ts'
import type { FetchPage, Page, PageRequest } from '../../src/core/page.ts'
import { createReadAhead } from '../../src/sync/read-ahead.ts'
import { pagesOfTwins, readBareList } from '../../src/sync/read-bare-list.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { errorOf, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { pageOf, scriptPages } from '../helpers/scripted-pages.ts'

const SIZE = 10
const list = listOf('gifts', { channel: '9', type: 'cash' })

async function readList(fetchPage: FetchPage) {
  const reported: Page[] = []
  const reading = {
    fetchPage,
    list,
    pageSize: SIZE,
    readAhead: createReadAhead(3, createFakeClock()),
    context: openContext(),
  }
  const { pages, doubt, unread } = await readBareList(
    reading,
    (page) => reported.push(page),
    (pages) => pages > 200,
  )
  expect(reported).toEqual(pages)
  return { items: pages.flatMap(({ items }) => items), doubt, ...(unread && { unread }) }
}

const numbered = (count: number): unknown[] => Array.from({ length: count }, (_, id) => ({ id }))
/** A page as a service serves it that clamps at `most`. */
const cut = (items: readonly unknown[], { page, pageSize }: Paged, most = Infinity) => {
  const size = Math.min(pageSize, most)
  return pageOf(items.slice((page - 1) * size, page * size))
}
type Paged = Pick<PageRequest, 'page' | 'pageSize'>
const refused = (status: number) => new LivehouseError('api.status', 'refused', { call: 'x', status, reason: '' })

describe('a list that stands still', () => {
  test.each([
    [0, [1]],
    [1, [1, 2]],
    [9, [1, 2]],
    [10, [1, 2, 1]],
    [11, [1, 2, 3, 1, 2]],
    [20, [1, 2, 3, 1, 2]],
    [29, [1, 2, 3, 4, 1, 3]],
  ])('of %i items is read to an empty page and looked at again: pages %j', async (count, calls) => {
    const { fetchPage, asked } = scriptPages((request) => cut(numbered(count), request))
    expect(await readList(fetchPage)).toEqual({ items: numbered(count), doubt: undefined })
    expect(asked).toEqual(calls)
  })

  test.each([1, 3, 9, 10, 12, 20, 27, 930])(
    'of %i items ends where the last page comes again, or the page behind it is refused',
    async (count) => {
      const items = numbered(count)
      const repeats = scriptPages(({ page, pageSize }) =>
        cut(items, { page: Math.min(page, Math.ceil(count / pageSize)), pageSize }),
      )
      expect(await readList(repeats.fetchPage)).toEqual({ items, doubt: undefined })
      const repeatsSome = scriptPages(({ page, pageSize }) => {
        if (page > 10_000) throw refused(400)
        return cut(items, { page: Math.min(page, Math.ceil(count / pageSize)), pageSize })
      })
      expect(await readList(repeatsSome.fetchPage)).toEqual({ items, doubt: undefined })
      const refuses = scriptPages((request) => {
        const page = cut(items, request)
        if (page.items.length === 0) throw refused(404)
        return page
      })
      expect(await readList(refuses.fetchPage)).toEqual({ items, doubt: undefined })
    },
  )

  test.each([
    [3, 8],
    [7, 30],
    [9, 45],
  ])('in pages of %i at most is read to its end, equal items too', async (most, count) => {
    for (const items of [numbered(count), Array.from({ length: count }, () => ({ id: 0 }))]) {
      const { fetchPage } = scriptPages((request) => cut(items, request, most))
      expect(await readList(fetchPage)).toEqual({ items, doubt: undefined })
    }
  })

  test('of which a row is hidden after its pages were cut is read to its end', async () => {
    const { fetchPage } = scriptPages((request) => {
      const page = cut(numbered(35), request)
      return { ...page, items: page.items.filter((item) => Object(item).id !== 14) }
    })
    const { items, doubt } = await readList(fetchPage)
    expect([items.length, doubt]).toEqual([34, undefined])
  })

  test.each([400, 404])('a page that is refused with %i although rows lie there is not its end', async (status) => {
    const deep = scriptPages((request) => {
      if (request.page > 2) throw refused(status)
      return cut(numbered(35), request)
    })
    expect(await readList(deep.fetchPage)).toMatchObject({ unread: { refusal: { code: 'api.status' } } })
    const hiding = scriptPages((request) => {
      if (request.page > 3) throw refused(status)
      const page = cut(numbered(40), request)
      return { ...page, items: page.items.filter((item) => Object(item).id < 21 || Object(item).id > 29) }
    })
    expect(await readList(hiding.fetchPage)).toMatchObject({ unread: { refusal: { code: 'api.status' } } })
    const once = scriptPages((request, call) => {
      if (call === 3) throw refused(status)
      return cut(numbered(35), request)
    })
    expect(await readList(once.fetchPage)).toMatchObject({ unread: { refusal: { code: 'api.status' } } })
    const shallow = scriptPages((request) => {
      if (request.page * Math.min(request.pageSize, 4) > 12) throw refused(status)
      return cut(numbered(20), request, 4)
    })
    expect(await readList(shallow.fetchPage)).toMatchObject({ unread: { refusal: { code: 'api.status' } } })
  })

  test.each([400, 404])(
    'that is refused with %i behind a short page is an error: no cut would help',
    async (status) => {
      for (const from of [1, 2]) {
        const { fetchPage } = scriptPages((request) => {
          if (request.page >= from) throw refused(status)
          return cut(numbered(8), request)
        })
        expect(await errorOf(readList(fetchPage))).toMatchObject({ code: 'api.status' })
      }
      const once = scriptPages((request, call) => {
        if (call === 2) throw refused(status)
        return cut(numbered(8), request, 2)
      })
      expect(await errorOf(readList(once.fetchPage))).toMatchObject({ code: 'api.status' })
      const onceHiding = scriptPages((request, call) => {
        if (call === 2) throw refused(status)
        const page = cut(numbered(20), request)
        return { ...page, items: page.items.filter((item) => Object(item).id === 0 || Object(item).id > 9) }
      })
      expect(await errorOf(readList(onceHiding.fetchPage))).toMatchObject({ code: 'api.status' })
    },
  )

  test.each<[string, LivehouseError]>([
    ['a server error', refused(500)],
    ['an object or null in place of the array', new LivehouseError('api.badShape', 'x', { call: 'x', reason: '' })],
    ['a refusal for the moment', new LivehouseError('api.rateLimited', 'x', { call: 'x' })],
    [
      'a channel that is not known',
      new LivehouseError('api.channelUnknown', 'x', { call: 'x', channelId: '9', reason: '' }),
    ],
  ])('is never ended by %s', async (_what, error) => {
    for (const bad of [1, 2, 3]) {
      const { fetchPage } = scriptPages((request) => {
        if (request.page === bad) throw error
        return cut(numbered(20), request)
      })
      expect(await errorOf(readList(fetchPage))).toBe(error)
    }
  })

  test('with two equal records on two pages is clean: those pages are looked at again', async () => {
    const items = [...numbered(10), { id: 3 }, ...numbered(20).slice(10)]
    const { fetchPage, asked } = scriptPages((request) => cut(items, request))
    expect(await readList(fetchPage)).toEqual({ items, doubt: undefined })
    expect(asked).toEqual([1, 2, 3, 4, 1, 3, 2])
  })

  test.each([7, 10, 25])(
    'with page 1 of %i items as every page has a page parameter that is ignored',
    async (count) => {
      for (const items of [numbered(count), Array.from({ length: count }, () => ({ id: 0 }))]) {
        const { fetchPage } = scriptPages(({ pageSize }) => cut(items, { page: 1, pageSize }))
        expect(await errorOf(readList(fetchPage))).toMatchObject({ code: 'paging.ignored' })
      }
    },
  )
})

describe('a list that moves while it is read', () => {
  /** The list as it is from one call on: the record `new` stands at `place` from then. */
  const serveWith = (place: number, fromCall: number, length: number) =>
    scriptPages((request, call) => {
      const items = numbered(length)
      if (call >= fromCall) items.splice(place, 0, { id: 'new' })
      return cut(items, request)
    })

  test.each([18, 20, 29, 30])(
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
    ['as the last of the first page', 9, 'page 1 changed'],
    ['in the middle', 15, 'page 2 changed'],
    ['as the last of a page in the middle', 19, 'page 2 changed'],
  ])('a record that arrives %s after it was read is told by that page', async (_where, place, doubt) => {
    const fromCall = place < SIZE ? 2 : 3
    expect((await readList(serveWith(place, fromCall, 35).fetchPage)).doubt).toContain(doubt)
  })

  test('a record that arrives where nothing has been read yet is no doubt: it is simply read', async () => {
    const { items, doubt } = await readList(serveWith(20, 2, 20).fetchPage)
    expect(doubt).toBeUndefined()
    expect(items).toContainEqual({ id: 'new' })
  })

  test('a record that goes from the first page is told', async () => {
    const { fetchPage } = scriptPages((request, call) => cut(numbered(25).slice(call > 1 ? 1 : 0), request))
    expect((await readList(fetchPage)).doubt).toContain('page 1 changed')
  })

  test('a record that goes from a single full page, and so draws the last one into it, is told', async () => {
    const { fetchPage } = scriptPages((request, calls) => cut(numbered(11).slice(calls > 1 ? 1 : 0), request))
    expect((await readList(fetchPage)).doubt).toBe('page 1 changed while the list was read')
  })

  test('a record that says more than before on the page that is read again is told', async () => {
    const { fetchPage } = scriptPages((request, call) =>
      cut([{ id: 0, phone: call > 2 ? '1' : '' }, ...numbered(16)], request),
    )
    expect((await readList(fetchPage)).doubt).toContain('page 1 changed')
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
