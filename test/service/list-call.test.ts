import { describe, expect, test } from 'vitest'
import { listCall } from '../../src/service/list-call.ts'
import type { ListRequest } from '../../src/core/page.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { connectClient, errorOf, openContext } from '../helpers/connect-client.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

const window = { from: parseWallTime('2026-01-01 00:00:00') ?? 0, to: parseWallTime('2026-02-01 00:00:00') ?? 0 }
const [from, to] = ['2026-01-01 00:00:00', '2026-02-01 00:00:00']
const results = { total_num: 0, results: [] }
const empty = { ...results, page: { count: 0 }, errcode: 1000, total: 0, data: [], title: [], question_list: [] }

describe('each list goes out as its section of the spec says', () => {
  test.each<[ListRequest, string, string, object]>([
    [
      listOf('visitors', { channel: '9' }),
      'POST',
      '/v2/activities/9/visitorList',
      { filter: '0', direction: 'desc', perPage: 50, p: 2 },
    ],
    [
      listOf('watch_records', { channel: '9' }, window),
      'POST',
      '/v2/activities/9/userRecordList',
      { start_time: from, end_time: to, filter_watch_time: 0, perPage: 50, p: 2 },
    ],
    [
      listOf('watch_records_v1', { channel: '9' }),
      'POST',
      '/v1/activities/9/userRecords',
      { filter_watch_time: 0, perPage: 50, p: 2 },
    ],
    [
      listOf('gifts', { channel: '9', type: 'prop' }, window),
      'POST',
      '/v1/activities/9/giftRunning',
      { type: 'prop', startTime: from, endTime: to, perPage: 50, p: 2 },
    ],
    [
      listOf('questionnaires', { channel: '9' }),
      'GET',
      '/v1/activities/9/getQuestionList',
      { page_size: 50, page_index: 2 },
    ],
    [
      listOf('signups', { channel: '9', question: 'ab' }, window),
      'POST',
      '/v1/activities/9/signupRecord',
      { question_id: 'ab', start_time: from, end_time: to, page_size: 50, page_index: 2 },
    ],
  ])('$stream.name', async (list, method, path, body) => {
    await using service = await startScriptedService(() => ({ json: list.stream.isCounted ? empty : [] }))
    const reservation = { scope: 'account', serviceDay: '', resumesAt: '', spendDay: async () => {} }
    await using connection = connectClient(service.url, { reserve: async () => reservation })
    const page = await connection.fetchPage({ list, page: 2, pageSize: 50 }, openContext())
    expect(page.items).toEqual([])
    // Before 4.6 the bare address is asked what time it is there.
    const requests = service.requests.filter((request) => request.path !== '/')
    expect(requests).toMatchObject([{ method, path, query: {}, body }])
    expect(requests[0]?.headers.authorization).toBe('Bearer fixed-token')
  })

  test.each(['managers', 'manager_usage'])('%s has its parameters in the query, or in the body', (name) => {
    const request = { list: listOf(name), page: 2, pageSize: 10 }
    expect(listCall(request, 'query')).toMatchObject({ method: 'GET', query: { p: '2', perPage: '10' } })
    expect(listCall(request, 'query').body).toBeUndefined()
    expect(listCall(request, 'body')).toMatchObject({ method: 'GET', body: { p: 2, perPage: 10 } })
    expect(listCall(request, 'body').query).toBeUndefined()
  })
})

test.each(['', '..', 'a/b', '9?x=1', '频道'])(
  'a channel id that could lead elsewhere is not sent: %j',
  async (channel) => {
    await using service = await startScriptedService(() => ({ json: empty }))
    await using connection = connectClient(service.url)
    const list = listOf('questionnaires', { channel })
    const error = await errorOf(
      Promise.resolve().then(() => connection.fetchPage({ list, page: 1, pageSize: 20 }, openContext())),
    )
    expect(error).toMatchObject({ code: 'api.invalidRequest' })
    expect(service.requests).toHaveLength(0)
  },
)
