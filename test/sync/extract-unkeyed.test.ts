import { describe, expect, test } from 'vitest'
import type { Page, PageRequest } from '../../src/core/page.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { errcode, fieldValue, repeatedPage } from '../../src/emulator/fault-effects.ts'
import type { FaultEffect } from '../../src/emulator/faults.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { readSlice } from '../helpers/read-slice.ts'
import { pageOf } from '../helpers/scripted-pages.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'

const TITLE = ['用户ID', '昵称', '手机号', '公司', '报名时间']
const cells = (user: number, answer = 'x') => [`u${user}`, 'n', 'p', answer, '2026-11-20 10:00:00']
const window = { from: parseWallTime('2026-11-20 10:00') ?? 0, to: parseWallTime('2026-11-20 11:00') ?? 0 }
const everyone = [1, 2, 3, 4, 5].map((user) => cells(user))

/** A list of signups that behaves, in pages of 2. */
const serve = (rows: readonly unknown[], { page }: PageRequest, fields: Partial<Page> = {}): Page =>
  pageOf(rows.slice(page * 2 - 2, page * 2), {
    total: rows.length,
    echoedPage: page,
    echoedPageSize: 2,
    title: TITLE,
    ...fields,
  })

describe('signups are given to the loader only by a reading that proves itself', () => {
  const read = async (answer: (request: PageRequest, call: number) => Page) =>
    await readSlice('signups', { answer, pageSize: 2, window })

  test('a list that stands still is read once', async () => {
    const { loaded, extraction, asked } = await read((request) => serve(everyone, request))
    expect(extraction.verdict.proof).toBe('verified')
    expect(loaded.map(({ user_id }) => user_id)).toEqual(['u1', 'u2', 'u3', 'u4', 'u5'])
    expect(asked).toHaveLength(3)
  })

  test.each<[string, (request: PageRequest, call: number) => Page, string]>([
    [
      'a page that is named as another one',
      (request) => serve(everyone, request, request.page === 2 ? { echoedPage: 1 } : {}),
      'page 2 was asked for, and page 1 came',
    ],
    [
      'a page that is not named',
      (request) => serve(everyone, request, { echoedPage: undefined }),
      'page 1 was asked for, and page ? came',
    ],
    [
      'headers that differ between pages',
      (request) => serve(everyone, request, request.page === 3 ? { title: TITLE.with(3, '职位') } : {}),
      'the headers of page 3 are not those of page 1',
    ],
    ['a total that moves', (request, call) => serve(everyone, request, { total: 5 + (call % 2) }), 'total moved'],
    [
      'a row that comes again on the next page, while page 1 changes',
      (request, call) => serve(everyone.with(0, cells(call + 10)).with(2, cells(2)), request),
      'changed while the list was read',
    ],
    ['fewer rows than the total says', (request) => serve(everyone, request, { total: 6 }), 'the source says 6'],
  ])('%s: nothing is loaded after three readings', async (_what, answer, reason) => {
    const { loaded, extraction } = await read(answer)
    expect(extraction.verdict.proof).toMatch(/moving|short/)
    expect(extraction.verdict.reason).toContain(reason)
    expect(loaded).toEqual([])
  })

  test('a reading that is not clean is done over, and the clean one is loaded alone', async () => {
    const { loaded, extraction } = await read((request, call) =>
      serve(everyone, request, call === 2 ? { title: [...TITLE, 'neu'] } : {}),
    )
    expect(extraction.verdict.proof).toBe('verified')
    expect(loaded).toHaveLength(5)
  })

  test('equal signups on two pages are two, after those pages were looked at again', async () => {
    const { loaded, asked } = await read((request) => serve([cells(1), cells(2), cells(2)], request))
    expect(loaded.map(({ user_id, occurrence }) => [user_id, occurrence])).toEqual([
      ['u1', 1],
      ['u2', 1],
      ['u2', 2],
    ])
    expect(asked).toEqual([1, 2, 1, 2])
  })

  test('a row of another number of cells goes to quarantine and counts; a cell may be of any kind', async () => {
    const odd = [['u6', 'n'], 'u7', null, [8n, true, { a: 1 }, [9_007_199_254_740_993n], '2026-11-20 10:00']]
    const { loaded, extraction } = await read((request) => serve([...everyone, ...odd], request))
    expect(extraction.verdict.proof).toBe('verified')
    expect(extraction.summary.rejected.map(({ raw }) => raw)).toEqual(['["u6","n"]', '"u7"', 'null'])
    expect(loaded.at(-1)).toMatchObject({
      user_id: '8',
      nickname: null,
      extra: '{"nickname":true,"phone":{"a":1}}',
      answers: '[{"question":"公司","answer":"[9007199254740993]"}]',
    })
  })

  test('headers may be of any kind too', async () => {
    const title = TITLE.with(3, '\u0000').map((header, index) => (index === 3 ? [9_007_199_254_740_993n] : header))
    const { loaded, extraction } = await read((request) => serve(everyone, request, { title }))
    expect(extraction.verdict.proof).toBe('verified')
    expect(loaded[0]?.answers).toBe('[{"question":"[9007199254740993]","answer":"x"}]')
  })

  test('rows outside the window are left to their own, rows without a readable time go to quarantine', async () => {
    const times = ['2026-11-20 09:59:59', '2026-11-20 10:00:00', '2026-11-20 11:00:00', 'soon', '']
    const rows = times.map((time, user) => cells(user).with(4, time))
    const { loaded, extraction } = await read((request) => serve(rows, request))
    expect(loaded.map(({ user_id }) => user_id)).toEqual(['u1'])
    expect(extraction.summary.rejected.map(({ path }) => path)).toEqual(['signed_up_at', 'signed_up_at'])
  })
})

test('gifts that move are not loaded, and are moving', async () => {
  const gift = (id: number, phone: string) => ({ gift_id: id, money: '1.00', uptime: '2026-11-20 10:00:00', phone })
  const answer = ({ page }: PageRequest, call: number) =>
    pageOf([gift(1, String(call)), gift(2, ''), gift(3, '')].slice(page * 2 - 2, page * 2))
  const { loaded, extraction } = await readSlice('gifts', { answer, pageSize: 2, window })
  expect(extraction.verdict).toEqual({ proof: 'moving', reason: 'page 1 changed while the list was read' })
  expect(loaded).toEqual([])
})

test.each<[string, FaultEffect, string]>([
  ['an unknown errcode for every page', errcode(2001), 'api.refused'],
  ['times of all ages whatever is asked for', fieldValue('uptime', '2014-01-01 00:00:00'), 'paging.ignored'],
])('%s is an error of gifts, never an empty list', async (_what, effect, code) => {
  await using pipeline = await startPipeline({ channels: 1 })
  pipeline.emulator.faults.push({ effect, endpoint: 'giftRunning' })
  const result = await pipeline.sync({ streams: ['gifts'] })
  expect(result.status).toBe('partial')
  expect(new Set(result.errors.map((error) => error.code))).toEqual(new Set([code]))
  pipeline.emulator.faults.splice(0)
  expect(await pipeline.sync({ streams: ['gifts'] })).toMatchObject({ status: 'ok' })
  await expectTruth(pipeline, ['gifts'])
})

test('a repeated page under another name is not believed, although the count is right', async () => {
  await using pipeline = await startPipeline({ channels: 1, viewers: 120 })
  const streams = ['questionnaires', 'signups'] as const
  pipeline.emulator.faults.push({ effect: repeatedPage(), endpoint: 'signupRecord', page: 2 })
  expect(await pipeline.sync({ streams, pageSize: 10 })).toMatchObject({ status: 'partial' })
  pipeline.emulator.faults.splice(0)
  expect(await pipeline.sync({ streams })).toMatchObject({ status: 'ok' })
  await expectTruth(pipeline, streams)
})
