import { describe, expect, test } from 'vitest'
import { listCall } from '../../src/service/list-call.ts'
import type { ListRequest } from '../../src/core/page.ts'
import { connectClient, errorOf, openContext } from '../helpers/connect-client.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

const times = { startTime: '2026-01-01 00:00:00', endTime: '2026-02-01 00:00:00' }
const results = { total_num: 0, results: [] }
const empty = { ...results, page: { count: 0 }, errcode: 1000, total: 0, data: [], title: [], question_list: [] }

describe('each list goes out as its section of the spec says', () => {
  test.each<[ListRequest, string, string, object]>([
    [
      { endpoint: 'visitorList', channelId: '9', filter: '0', direction: 'desc' },
      'POST',
      '/v2/activities/9/visitorList',
      { filter: '0', direction: 'desc', perPage: 50, p: 2 },
    ],
    [
      { endpoint: 'userRecordList', channelId: '9', filterWatchTime: 0, ...times },
      'POST',
      '/v2/activities/9/userRecordList',
      { start_time: times.startTime, end_time: times.endTime, filter_watch_time: 0, perPage: 50, p: 2 },
    ],
    [
      { endpoint: 'userRecords', channelId: '9', filterWatchTime: 1 },
      'POST',
      '/v1/activities/9/userRecords',
      { filter_watch_time: 1, perPage: 50, p: 2 },
    ],
    [
      { endpoint: 'giftRunning', channelId: '9', type: 'prop', ...times },
      'POST',
      '/v1/activities/9/giftRunning',
      { type: 'prop', startTime: times.startTime, endTime: times.endTime, perPage: 50, p: 2 },
    ],
    [
      { endpoint: 'getQuestionList', channelId: '9' },
      'GET',
      '/v1/activities/9/getQuestionList',
      { page_size: 50, page_index: 2 },
    ],
    [
      { endpoint: 'signupRecord', channelId: '9', questionId: 'ab', ...times },
      'POST',
      '/v1/activities/9/signupRecord',
      { question_id: 'ab', start_time: times.startTime, end_time: times.endTime, page_size: 50, page_index: 2 },
    ],
  ])('$endpoint', async (list, method, path, body) => {
    const isBare = list.endpoint === 'userRecords' || list.endpoint === 'giftRunning'
    await using service = await startScriptedService(() => ({ json: isBare ? [] : empty }))
    const reservation = { scope: 'account', serviceDay: '', resumesAt: '', spendDay: async () => {} }
    await using connection = connectClient(service.url, { reserve: async () => reservation })
    const page = await connection.fetchPage({ list, page: 2, pageSize: 50 }, openContext())
    expect(page.items).toEqual([])
    // Before 4.6 the bare address is asked what time it is there.
    const requests = service.requests.filter((request) => request.path !== '/')
    expect(requests).toMatchObject([{ method, path, query: {}, body }])
    expect(requests[0]?.headers.authorization).toBe('Bearer fixed-token')
  })

  test.each(['managers', 'managersUsage'] as const)(
    '%s has its parameters in the query, or in the body',
    (endpoint) => {
      const request = { list: { endpoint }, page: 2, pageSize: 10 }
      expect(listCall(request, 'query')).toMatchObject({ method: 'GET', query: { p: '2', perPage: '10' } })
      expect(listCall(request, 'query').body).toBeUndefined()
      expect(listCall(request, 'body')).toMatchObject({ method: 'GET', body: { p: 2, perPage: 10 } })
      expect(listCall(request, 'body').query).toBeUndefined()
    },
  )

  test('a user name narrows the usage list', () => {
    const list = { endpoint: 'managersUsage', username: '009' } as const
    expect(listCall({ list, page: 1, pageSize: 10 }).query).toEqual({ username: '009', p: '1', perPage: '10' })
  })
})

test.each(['', '..', 'a/b', '9?x=1', '频道'])(
  'a channel id that could lead elsewhere is not sent: %j',
  async (channelId) => {
    await using service = await startScriptedService(() => ({ json: empty }))
    await using connection = connectClient(service.url)
    const paging = { page: 1, pageSize: 20 }
    const error = await errorOf(
      Promise.resolve().then(() =>
        connection.fetchPage({ list: { endpoint: 'getQuestionList', channelId }, ...paging }, openContext()),
      ),
    )
    expect(error).toMatchObject({ code: 'api.invalidRequest' })
    expect(service.requests).toHaveLength(0)
  },
)
