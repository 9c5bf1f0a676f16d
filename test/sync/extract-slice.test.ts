import { describe, expect, test } from 'vitest'
import type { PageRequest } from '../../src/core/page.ts'
import { MINUTE } from '../../src/core/wall-clock.ts'
import { errorOf } from '../helpers/connect-client.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { extractScripted, serveTimed } from '../helpers/extract-scripted.ts'
import { meanwhile } from '../helpers/numbered-lists.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'
import { expectWhole, HISTORY_ROWS, histories, historyWindow, rowsOf } from '../helpers/timed-history.ts'

describe('a list that moves', () => {
  const { even } = histories

  test.each([
    ['watch_records', Infinity],
    ['gifts', 7500],
  ] as const)(
    'and grows after it was looked at: parts of %s that are too long now are cut again',
    async (name, most) => {
      const few = serveTimed({ times: even.filter((_, index) => index % 4 === 0) })
      const all = serveTimed({ times: even })
      const answer = (request: PageRequest, call: number) => (call < 12 ? few(request) : all(request))
      const extraction = await extractScripted(name, answer, { window: historyWindow })
      expectWhole(extraction, HISTORY_ROWS)
      expect(Math.max(...rowsOf(extraction))).toBeLessThanOrEqual(most)
    },
  )

  test('and shrinks while it is looked at: what is there is read', async () => {
    const left = even.filter((_, index) => index % 10 === 0)
    const [all, few] = [serveTimed({ times: even }), serveTimed({ times: left })]
    for (const name of ['watch_records', 'gifts'] as const) {
      const answer = (request: PageRequest, call: number) => (call < 3 ? all(request) : few(request))
      expectWhole(await extractScripted(name, answer, { window: historyWindow }), left.length)
    }
  })
})

test.each<[string, (page: number) => number, string, number]>([
  ['begins again behind its end', (page) => ((page - 1) % 3) + 1, 'page 2001 of one minute', 2 * 2001],
  [
    'repeats its last page, yet has an end far behind it,',
    (page) => (page > 9999 ? page : Math.min(page, 3)),
    'as page 3',
    205,
  ],
])(
  'a list of a few minutes that %s is an error, in a bounded number of calls',
  async (_how, served, message, calls) => {
    const from = historyWindow.from
    const serve = serveTimed({ times: [from, from + 1, from + 2], largestPage: 1 })
    let asked = 0
    const answer = (request: PageRequest) => {
      asked++
      if (asked > 10_000) throw new Error('read without end')
      return serve({ ...request, page: served(request.page) })
    }
    const window = { from, to: from + 2 * MINUTE }
    expect(await errorOf(extractScripted('gifts', answer, { window }))).toMatchObject({
      code: 'paging.ignored',
      message: expect.stringContaining(message),
    })
    expect(asked).toBe(calls)
  },
)

test.each([2, 3, 4, 9])(
  'a run that ends after call %d, between looks too, is gone on with by the next',
  async (last) => {
    await using pipeline = await startPipeline({ channels: 1, viewers: 700 })
    const stop = new AbortController()
    let calls = 0
    const effect = meanwhile(() => {
      calls++
      if (calls === last) stop.abort()
    })
    pipeline.emulator.faults.push({ effect, endpoint: 'userRecordList' })
    await pipeline.sync({ streams: ['watch_records'], pageSize: 10, signal: stop.signal })
    pipeline.emulator.faults.length = 0
    expect(await pipeline.sync({ streams: ['watch_records'], pageSize: 10 })).toMatchObject({
      status: 'ok',
      errors: [],
    })
    await expectTruth(pipeline, ['watch_records'])
  },
)
