import { expect, test } from 'vitest'
import { connectClient, openContext } from '../helpers/connect-client.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

test.each<[string, string, number]>([
  ['seconds', '7', 7000],
  ['an HTTP date', 'Fri, 20 Nov 2026 06:00:09 GMT', 9000],
  ['a date that has passed', 'Fri, 20 Nov 2026 05:00:00 GMT', 0],
  ['a day', '86400', 60_000],
  ['nonsense', 'soon', 0],
])('Retry-After as %s', async (_name, header, waitMs) => {
  const clock = createFakeClock({ isAutomatic: true })
  await using service = await startScriptedService((_request, index) =>
    index === 0 ? { status: 503, headers: { 'retry-after': header }, text: '' } : { json: [] },
  )
  await using connection = connectClient(service.url, { clock, random: () => 0 })
  await connection.fetchPage(
    { list: listOf('gifts', { channel: '9', type: 'cash' }), page: 1, pageSize: 100 },
    openContext(),
  )
  expect(clock.waits).toEqual([waitMs])
})
