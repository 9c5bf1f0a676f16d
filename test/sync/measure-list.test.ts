import { describe, expect, test } from 'vitest'
import { LivehouseError } from '../../src/core/errors.ts'
import type { FetchPage, ListRequest } from '../../src/core/page.ts'
import { measureBareList, type NumberedPage, servedSize } from '../../src/sync/measure-list.ts'
import { createReadAhead } from '../../src/sync/read-ahead.ts'
import { openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { pageOf, scriptPages } from '../helpers/scripted-pages.ts'

const SIZE = 4
const list: ListRequest = { endpoint: 'giftRunning', channelId: '9', type: 'cash' }
const ENOUGH = 6
const EXACTNESS = 2

const cut = (count: number, page: number) =>
  pageOf(Array.from({ length: count }, (_, id) => ({ id })).slice((page - 1) * SIZE, page * SIZE))

async function measure(fetchPage: FetchPage) {
  const looked: NumberedPage[] = []
  const reading = {
    fetchPage,
    list,
    pageSize: SIZE,
    readAhead: createReadAhead(3, createFakeClock()),
    context: openContext(),
  }
  const pages = await measureBareList(reading, cut(4, 1), ENOUGH, EXACTNESS, (page) => looked.push(page))
  return { pages, looked: looked.map(({ number }) => number) }
}

describe('the end of a list without a total', () => {
  const past: readonly (readonly [string, (count: number, page: number) => ReturnType<typeof pageOf>])[] = [
    ['are empty', cut],
    ['repeat the last', (count, page) => cut(count, Math.min(page, Math.ceil(count / SIZE)))],
    [
      'are refused',
      (count, page) => {
        if (page <= Math.ceil(count / SIZE)) return cut(count, page)
        throw new LivehouseError('api.status', 'refused', { call: 'x', status: 400, reason: '' })
      },
    ],
  ]
  test.each(past)('is found to a few pages where those beyond it %s', async (_what, serve) => {
    for (let pages = 1; pages <= 70; pages++) {
      for (const rest of [0, 1]) {
        const { fetchPage, asked } = scriptPages(({ page }) => serve(pages * SIZE - rest, page))
        const measured = await measure(fetchPage)
        expect(asked.length).toBeLessThan(13)
        // A last page that comes again is told from one page more only by reading.
        const isShort = pages <= ENOUGH || (pages === ENOUGH + 1 && measured.pages === undefined)
        expect(measured.pages === undefined, `${pages} pages, ${measured.pages}`).toBe(isShort)
        const wrongBy = measured.pages === undefined ? 0 : Math.abs(measured.pages - pages)
        expect(wrongBy, `${pages} pages, ${measured.pages}`).toBeLessThanOrEqual(EXACTNESS + 1)
      }
    }
  })

  test('is taken to lie before a page that fails', async () => {
    const { fetchPage } = scriptPages(({ page }) => {
      if (page > 20) throw new LivehouseError('api.timeout', 'late', { call: 'x', timeoutMs: 30_000 })
      return cut(400, page)
    })
    expect((await measure(fetchPage)).pages).toBeLessThanOrEqual(22)
  })

  test('is given up where every number has another page', async () => {
    const { fetchPage, asked } = scriptPages(({ page }) => pageOf([page, 1, 2, 3].map((id) => ({ id, page }))))
    expect((await measure(fetchPage)).pages).toBeGreaterThan(1000)
    expect(asked.length).toBeLessThan(60)
  })

  test('is looked for no farther where the first look is refused by who checks it', async () => {
    const { fetchPage, asked } = scriptPages(({ page }) => cut(400, page))
    const reading = {
      fetchPage,
      list,
      pageSize: SIZE,
      readAhead: createReadAhead(3, createFakeClock()),
      context: openContext(),
    }
    const stop = () => {
      throw new Error('outside')
    }
    await expect(measureBareList(reading, cut(4, 1), ENOUGH, EXACTNESS, stop)).rejects.toThrow('outside')
    expect(asked).toEqual([7])
  })
})

test.each([
  [100, 100, 500, 100],
  [100, 20, 500, 20],
  [100, 20, 20, 100],
  [100, 0, 500, 100],
  [100, 20, undefined, 20],
])('of %d asked for, %d of %s come: pages hold %d', (pageSize, count, total, size) => {
  const page = pageOf(
    Array.from({ length: count }, (_, id) => ({ id })),
    { total },
  )
  expect(servedSize(pageSize, page)).toBe(size)
})
