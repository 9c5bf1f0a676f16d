import { expect, test } from 'vitest'
import type { Pace } from '../../src/service/pace.ts'
import { connectClient, errorOf, openContext } from '../helpers/connect-client.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

const credentials = { apiToken: null, appId: 'an app', appSecret: 'a secret' }

test('a closed connection makes no more calls, neither retries that wait nor new ones', async () => {
  await using service = await startScriptedService(() => ({ status: 502, text: '' }))
  const clock = createFakeClock({ isAutomatic: true })
  const sleep = async (ms: number, signal?: AbortSignal) => {
    await own[Symbol.asyncDispose]()
    await clock.sleep(ms, signal)
  }
  const own = connectClient(service.url, { clock: { ...clock, sleep } })
  const fetchPage = async () =>
    await errorOf(own.fetchPage({ list: listOf('visitors', { channel: '9' }), page: 1, pageSize: 100 }, openContext()))
  expect(String(await fetchPage())).toContain('the connection to the service was closed')
  expect(String(await fetchPage())).toContain('the connection to the service was closed')
  expect(service.requests).toHaveLength(1)
})

test('calls in flight, token calls too, keep to the ceiling; those that wait for their rate do not count', async () => {
  await using service = await startScriptedService(async () => {
    for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve))
    return { json: { access_token: 'token-1', page: { count: 0 }, data: [] } }
  })
  const { promise: never } = Promise.withResolvers<never>()
  const inFlight = { now: 0, most: 0 }
  const paced = new Set<string>()
  const pace: Pace = {
    endpointRate: (next) => async (call, context) =>
      call.endpoint === 'visitorList' ? await never : await next(call, context),
    ceiling: (next) => async (call, context) => {
      paced.add(call.endpoint)
      inFlight.most = Math.max(inFlight.most, ++inFlight.now)
      return await next(call, context).finally(() => (inFlight.now -= 1))
    },
  }
  await using connection = connectClient(service.url, { ...credentials, pace, concurrency: 3 })
  const fetchPage = async (list: ReturnType<typeof listOf>) =>
    await connection.fetchPage({ list, page: 1, pageSize: 20 }, openContext()).catch(() => {})
  for (let call = 0; call < 10; call += 1) void fetchPage(listOf('visitors', { channel: '9' }))
  await Promise.all(Array.from({ length: 10 }, () => fetchPage(listOf('managers'))))
  expect(inFlight.most).toBe(3)
  await connection.reach(openContext())
  expect(paced).toEqual(new Set(['managers', 'token', 'base']))
})
