import { expect, test } from 'vitest'
import type { Reservation } from '../../src/core/shared-calls.ts'
import { connectClient, errorOf, openContext } from '../helpers/connect-client.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

const paging = { page: 1, pageSize: 100 }
/** The service's time, far from this machine's. */
const DATE = 'Sat, 02 Jan 2027 03:04:05 GMT'
const resumesAt = '2026-11-20T16:00:00.000Z'

test('a call of 4.6 that ends with 503 is repeated once, and each attempt is charged before it is made', async () => {
  const journal: string[] = []
  await using service = await startScriptedService(({ path }) => {
    // The clocks differ so much that a list is requested too.
    if (!path.endsWith('/userRecords')) return { status: 404, headers: { date: DATE }, text: '' }
    journal.push('call')
    return { status: 503, text: '' }
  })
  const reserve = async (channelId: string): Promise<Reservation> => {
    journal.push(`reserve ${channelId}`)
    return { scope: 'account', serviceDay: '2026-11-20', resumesAt, spendDay: async () => void journal.push('spend') }
  }
  await using connection = connectClient(service.url, { reserve })
  const list = listOf('watch_records_v1', { channel: '9' })
  expect(String(await errorOf(connection.fetchPage({ list, ...paging }, openContext())))).toContain('after 2 attempts')
  expect(journal).toEqual(['reserve 9', 'call', 'reserve 9', 'call'])
})

test('a token that expires after a call of 4.6 was reserved, and is not renewed, does not spend the day', async () => {
  const journal: string[] = []
  const clock = createFakeClock({ isAutomatic: true })
  await using service = await startScriptedService(({ path }) => {
    if (path === '/') return { json: {} }
    journal.push(path.split('/').at(-1) ?? '')
    if (path !== '/v2/oauth2/token') return { json: [] }
    const tokens = journal.filter((entry) => entry === 'token').length
    return tokens === 2 ? { status: 429, text: '' } : { json: { access_token: `t${tokens}`, expire_time: 60 } }
  })
  const reserve = async (): Promise<Reservation> => {
    if (!journal.includes('reserve')) clock.nowMs += 60_000
    journal.push('reserve')
    return { scope: 'account', serviceDay: '', resumesAt, spendDay: async () => void journal.push('spend') }
  }
  const credentials = { apiToken: null, appId: 'an app', appSecret: 'a secret' }
  await using connection = connectClient(service.url, { ...credentials, clock, reserve })
  await connection.fetchPage({ list: listOf('watch_records_v1', { channel: '9' }), ...paging }, openContext())
  expect(journal).toEqual(['token', 'reserve', 'userRecords'])
})
