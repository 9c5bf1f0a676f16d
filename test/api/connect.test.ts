import { expect, test } from 'vitest'
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
