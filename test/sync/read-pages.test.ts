import { expect, test } from 'vitest'
import { yieldToEventLoop } from '../../src/core/clock.ts'
import type { FetchPage } from '../../src/core/page.ts'
import { createReadAhead } from '../../src/sync/read-ahead.ts'
import { readPages } from '../../src/sync/read-pages.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { errorOf, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { pageOf, scriptPages, servesNumbers } from '../helpers/scripted-pages.ts'

const list = listOf('visitors', { channel: '9' })

async function readAll(fetchPage: FetchPage, { pageSize = 10, prefetch = 3 } = {}): Promise<readonly unknown[]> {
  const items: unknown[] = []
  for await (const { page } of readPages({
    fetchPage,
    list,
    pageSize,
    readAhead: createReadAhead(prefetch, createFakeClock()),
    context: openContext(),
  })) {
    items.push(...page.items)
  }
  return items
}

test.each([0, 1, 9, 10, 11, 95, 100])('%i items arrive once each, in order, with no call too many', async (total) => {
  const { fetchPage, asked } = scriptPages(servesNumbers(total))
  expect(await readAll(fetchPage)).toEqual(Array.from({ length: total }, (_, id) => ({ id })))
  // A full last page is not believed to be the last: the next one must be empty.
  expect(asked).toHaveLength(Math.floor(total / 10) + 1)
})

test('where the service serves smaller pages than asked, what it sends decides', async () => {
  const { fetchPage, asked } = scriptPages(servesNumbers(95, 4))
  expect(await readAll(fetchPage)).toHaveLength(95)
  expect(asked).toHaveLength(24)
})

test('a page parameter that is ignored is an error, not the first page over and over', async () => {
  const serve = servesNumbers(95)
  const { fetchPage, asked } = scriptPages((request) => serve({ ...request, page: 1 }))
  expect(await errorOf(readAll(fetchPage))).toMatchObject({ code: 'paging.ignored', details: { parameter: 'page' } })
  expect(asked.length).toBeLessThan(6)
})

test('a repeated last page ends the walk and is not counted twice', async () => {
  const serve = servesNumbers(25)
  const { fetchPage } = scriptPages((request) => ({
    ...serve({ ...request, page: Math.min(request.page, 3) }),
    total: 40,
  }))
  expect(await readAll(fetchPage)).toHaveLength(25)
})

test('pages shorter than the announced size are read on until the total is there', async () => {
  const { fetchPage } = scriptPages(({ page }) => {
    const sizes = [10, 3, 10, 7]
    const items = Array.from({ length: sizes[page - 1] ?? 0 }, (_, id) => ({ page, id }))
    return pageOf(items, { total: 30 })
  })
  expect(await readAll(fetchPage)).toHaveLength(30)
})

test('a total that grows while the list is read brings the new last page too', async () => {
  const { fetchPage } = scriptPages((request, calls) => servesNumbers(calls < 2 ? 20 : 31)(request))
  expect(await readAll(fetchPage, { prefetch: 1 })).toHaveLength(31)
})

test('a total that is capped at whole pages does not end the walk', async () => {
  const serve = servesNumbers(47)
  const { fetchPage } = scriptPages((request) => ({ ...serve(request), total: 30 }))
  expect(await readAll(fetchPage)).toHaveLength(47)
})

test('a total that is far too high does not keep the walk going', async () => {
  const serve = servesNumbers(15)
  const { fetchPage, asked } = scriptPages((request) => ({ ...serve(request), total: 1000 }))
  expect(await readAll(fetchPage, { prefetch: 1 })).toHaveLength(15)
  expect(asked).toHaveLength(4)
})

test('no more pages are under way than allowed', async () => {
  let underway = 0
  let most = 0
  const serve = servesNumbers(200)
  const fetchPage: FetchPage = async (request) => {
    most = Math.max(most, ++underway)
    await Promise.resolve()
    underway--
    return serve(request)
  }
  expect(await readAll(fetchPage, { prefetch: 5 })).toHaveLength(200)
  expect(most).toBeLessThanOrEqual(5)
})

test('the next pages are asked for before anybody has looked at page 1', async () => {
  const { fetchPage, asked } = scriptPages(servesNumbers(200))
  for await (const { number } of readPages({
    fetchPage,
    list,
    pageSize: 10,
    readAhead: createReadAhead(4, createFakeClock()),
    context: openContext(),
  })) {
    if (number > 1) break
    await yieldToEventLoop()
    expect(asked).toEqual([1, 2, 3, 4, 5])
  }
})

test('between pages that have come there is time for others', async () => {
  const { fetchPage } = scriptPages(servesNumbers(95))
  const rounds: number[] = []
  let round = 0
  let isOver = false
  const count = () => {
    round += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  for await (const { number } of readPages({
    fetchPage,
    list,
    pageSize: 10,
    readAhead: createReadAhead(20, createFakeClock()),
    context: openContext(),
  })) {
    if (number > 1) rounds.push(round)
  }
  isOver = true
  expect(new Set(rounds).size).toBe(9)
})

test('a list of one page that grows while it is read is read on', async () => {
  const { fetchPage } = scriptPages((request, calls) => servesNumbers(calls === 1 ? 10 : 45)(request))
  expect(await readAll(fetchPage)).toHaveLength(45)
})

test('leaving early ends what is still under way', async () => {
  const aborted: number[] = []
  const serve = servesNumbers(200)
  const fetchPage: FetchPage = async (request, { signal }) => {
    if (request.page > 2) {
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted.push(request.page)
          reject(new Error('left'))
        })
      })
    }
    return serve(request)
  }
  for await (const { number } of readPages({
    fetchPage,
    list,
    pageSize: 10,
    readAhead: createReadAhead(4, createFakeClock()),
    context: openContext(),
  })) {
    if (number === 2) break
  }
  expect(aborted).toEqual([3, 4, 5])
})
