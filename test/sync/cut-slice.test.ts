import { describe, expect, test } from 'vitest'
import { LivehouseError } from '../../src/core/errors.ts'
import type { Page, PageRequest } from '../../src/core/page.ts'
import { DAY, formatWallTime, MINUTE, parseWallTime } from '../../src/core/wall-clock.ts'
import { halveSlice } from '../../src/sync/cut-slice.ts'
import { gifts } from '../../src/streams/gifts.ts'
import { errorOf } from '../helpers/connect-client.ts'
import { listOf } from '../helpers/emulated-client.ts'
import {
  extractScripted,
  type ScriptedOptions,
  type ScriptedStream,
  serveTimed,
  type TimedList,
} from '../helpers/extract-scripted.ts'
import { pageOf } from '../helpers/scripted-pages.ts'
import { expectWhole, HISTORY_ROWS, histories, historyWindow, orders, rowsOf } from '../helpers/timed-history.ts'

const window = historyWindow
const { to } = window
const ROWS = HISTORY_ROWS

async function extract(name: ScriptedStream, list: TimedList, options: Partial<ScriptedOptions> = {}) {
  const extraction = await extractScripted(name, serveTimed(list), { window, ...options })
  expectWhole(extraction, list.times.length)
  return extraction
}

describe('calls ÷ fewest possible', () => {
  const cases = (['even', 'bursts'] as const).flatMap((history) =>
    (['descending', 'ascending', 'no order'] as const).map((order) => [history, order] as const),
  )
  // The bound is that of 300 pages; each part costs a look, a half-empty page and, without a total, pages that are read again.
  test.each(cases)('a history that is %s, in %s', async (history, order) => {
    const times = orders[order](histories[history])
    const counted = await extract('watch_records', { times })
    expect(counted.asked.length / (ROWS / 100)).toBeLessThan(1.04)
    expect(counted.slices.length).toBeGreaterThanOrEqual(2)
    const bare = await extract('gifts', { times })
    expect(bare.asked.length / (ROWS / 100)).toBeLessThan(order === 'no order' ? 1.25 : 1.15)
    expect(Math.max(...rowsOf(bare))).toBeLessThanOrEqual(7500)
  })

  test('what is hardly too large is not cut', async () => {
    const times = Array.from({ length: 6000 }, (_, index) => to - 1 - index * MINUTE)
    expect((await extract('watch_records', { times })).asked).toHaveLength(61)
  })
})

describe('rows that lie close together', () => {
  const at = parseWallTime('2026-11-19 20:00') ?? 0

  test.each(['watch_records', 'gifts'] as const)('%s all in one minute are read once, and as a whole', async (name) => {
    const times = Array.from({ length: 20_000 }, (_, index) => at + (index % 60))
    const extraction = await extract(name, { times })
    expect(rowsOf(extraction).filter((rows) => rows > 0)).toEqual([20_000])
    expect(extraction.asked.length).toBeLessThan(200 * 1.3)
  })

  test('of which half lie in one minute: the others are read apart', async () => {
    const crowd = Array.from({ length: 10_000 }, (_, index) => at + (index % 60))
    const others = histories.even.filter((_, index) => index % 3 === 0)
    const extraction = await extract('gifts', { times: [...crowd, ...others].sort((a, b) => b - a) })
    expect(extraction.slices.length).toBeGreaterThanOrEqual(3)
    expect(extraction.asked.length).toBeLessThan(200 * 1.3)
  })
})

describe('a service that behaves otherwise', () => {
  const times = orders.descending(histories.bursts)

  test('serves smaller pages than asked: their size decides how long parts are', async () => {
    const few = times.filter((_, index) => index % 4 === 0)
    const counted = await extract('watch_records', { times: few, largestPage: 20 })
    expect(counted.asked.length / (few.length / 20)).toBeLessThan(1.06)
    const bare = await extract('gifts', { times: few, largestPage: 20 })
    expect(Math.max(...rowsOf(bare))).toBeLessThanOrEqual(3000)
  })

  test('serves pages of one row: a list of few rows is not cut, a longer one into parts that can be resumed', async () => {
    const rows = (count: number) => histories.even.slice(0, count)
    expect((await extract('watch_records', { times: rows(100), largestPage: 1 })).slices).toHaveLength(1)
    const longer = await extract('watch_records', { times: rows(900), largestPage: 1 })
    expect(longer.slices.length).toBeGreaterThanOrEqual(4)
    expect(longer.asked.length).toBeLessThan(900 * 1.15)
  })

  test('repeats its last page past the end', async () => {
    const extraction = await extract('gifts', { times, beyondLastPage: 'repeat-last' })
    expect(extraction.asked.length / (ROWS / 100)).toBeLessThan(1.2)
  })

  test.each<[string, () => Page]>([
    ['are empty', () => pageOf([], { total: 6000 })],
    [
      'are refused',
      () => {
        throw failure(400)
      },
    ],
    [
      'fail',
      () => {
        throw failure(502)
      },
    ],
  ])('pages far down the list %s: it is cut all the same, and read', async (_how, far) => {
    const few = times.filter((_, index) => index % 5 === 0)
    const serve = serveTimed({ times: few, largestPage: 1 })
    const answer = (request: PageRequest) => (request.page > 240 ? far() : serve(request))
    const extraction = await extractScripted('watch_records', answer, { window })
    expectWhole(extraction, few.length)
  })

  test.each(['descending', 'ascending', 'no order'] as const)(
    'ignores the time filter, in %s: a part shows it',
    async (order) => {
      const list = orders[order](histories.bursts)
      const all = serveTimed({ times: list })
      for (const name of ['watch_records', 'gifts'] as const) {
        const asked: number[] = []
        const answer = (request: PageRequest) => {
          asked.push(request.page)
          return all({ ...request, list: unfiltered(request) })
        }
        for (const range of [window, { from: to - 9 * DAY, to }]) {
          asked.length = 0
          expect(await errorOf(extractScripted(name, answer, { window: range }))).toMatchObject({
            code: 'paging.ignored',
            details: { parameter: 'time filter' },
          })
          expect(asked.length).toBeLessThan(100)
        }
      }
    },
  )

  test('shows page 1 in place of a page once: the others say where to cut', async () => {
    const few = times.filter((_, index) => index % 4 === 0)
    const serve = serveTimed({ times: few, largestPage: 10 })
    let isFirstLook = true
    const answer = (request: PageRequest) => {
      const page = request.page > 1 && isFirstLook ? 1 : request.page
      if (request.page > 1) isFirstLook = false
      return serve({ ...request, page })
    }
    const extraction = await extractScripted('watch_records', answer, { window })
    expect(extraction.slices.length).toBeGreaterThanOrEqual(2)
    expectWhole(extraction, few.length)
  })

  test('ignores the page parameter: a few calls show it', async () => {
    const serve = serveTimed({ times })
    let calls = 0
    const answer = (request: PageRequest) => {
      calls++
      return serve({ ...request, page: 1 })
    }
    expect(await errorOf(extractScripted('watch_records', answer, { window }))).toMatchObject({
      code: 'paging.ignored',
      details: { parameter: 'page' },
    })
    expect(calls).toBeLessThan(7)
    calls = 0
    expect(await errorOf(extractScripted('gifts', answer, { window }))).toMatchObject({ code: 'paging.ignored' })
    expect(calls).toBeLessThan(7)
  })

  test('looks are bounded, however long the list', async () => {
    let looks = 0
    const stop = new AbortController()
    const answer = ({ page }: PageRequest): Page => {
      if (page === 1 && looks > 0) stop.abort()
      else looks++
      const times = Array.from({ length: 100 }, (_, index) => to - page * 20 - Math.floor(index / 10))
      return {
        ...serveTimed({ times })({ list: listOf('managers'), page: 1, pageSize: 100 }),
        total: 300_000_000,
      }
    }
    await errorOf(extractScripted('watch_records', answer, { window, signal: stop.signal }))
    expect(looks).toBeLessThanOrEqual(1 + 24 + 24)
  })
})

test('what does not rest is cut where settle begins, else where half of its rows lie before, down to a minute', () => {
  const rows = [50, 40, 30, 20, 10].map((ago) => ({ given_at: formatWallTime(to - ago * MINUTE) }))
  const windowsOf = (covers: typeof window, whole = window) =>
    halveSlice({ stream: gifts, partition: {}, window: whole, covers }, rows, { timeZone: 'Asia/Shanghai' })?.map(
      (part) => part.window,
    )
  const at = (ago: number) => ({ from: window.from, to: to - ago * MINUTE })
  expect(windowsOf(at(5))).toEqual([{ from: to - 5 * MINUTE, to }, at(5)])
  expect(windowsOf(window)).toEqual([{ from: to - 30 * MINUTE, to }, at(30)])
  const minute = { from: to - MINUTE, to }
  expect(windowsOf(minute, minute)).toBeUndefined()
})

function failure(status: number): LivehouseError {
  return new LivehouseError('api.status', 'refused', { call: 'x', status, reason: '' })
}

function unfiltered({ list }: PageRequest): PageRequest['list'] {
  const all = { from: parseWallTime('2000-01-01 00:00:00') ?? 0, to: parseWallTime('2030-01-01 00:00:00') ?? 0 }
  return list.window ? { ...list, window: all } : list
}
