import { expect, test } from 'vitest'
import type { Permits } from '../../src/service/permits.ts'
import { connectClient, errorOf, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

test('a connection that is closed calls no more: neither what waits to be repeated nor what comes after', async () => {
  await using service = await startScriptedService(() => ({ status: 502, text: '' }))
  const clock = createFakeClock({ isAutomatic: true })
  const connection = connectClient(service.url, {
    clock: {
      ...clock,
      sleep: async (ms, signal) => {
        await connection[Symbol.asyncDispose]()
        await clock.sleep(ms, signal)
      },
    },
  })
  const ask = async () =>
    await errorOf(
      connection.client.visitors(
        { channelId: '9', filter: '0', direction: 'desc' },
        { page: 1, pageSize: 100 },
        openContext(),
      ),
    )
  expect(String(await ask())).toContain('the connection to the service was closed')
  expect(String(await ask())).toContain('the connection to the service was closed')
  expect(service.requests).toHaveLength(1)
})

test('a token is waited for before a call asks for leave to go: else all that wait for it would then go at once', async () => {
  const asked = Promise.withResolvers<void>()
  const issued = Promise.withResolvers<void>()
  await using service = await startScriptedService(async ({ path }) => {
    if (path !== '/v2/oauth2/token') return { json: { page: { p: 1, perPage: 1, count: 0 }, data: [] } }
    asked.resolve()
    await issued.promise
    return { json: { errcode: 1000, access_token: 'token-1', expire_time: 7200 } }
  })
  let taken = 0
  const permits: Permits = {
    take: async () => {
      taken += 1
      return { answered: () => {}, refused: () => {} }
    },
  }
  const credentials = { apiToken: null, appId: 'app-1', appSecret: 'secret-of-the-app' }
  await using connection = connectClient(service.url, { ...credentials, permits })
  const calls = Array.from({ length: 10 }, () => connection.client.managers({ page: 1, pageSize: 1 }, openContext()))
  await asked.promise
  expect(taken).toBe(1)
  issued.resolve()
  await Promise.all(calls)
  expect(taken).toBe(11)
})
