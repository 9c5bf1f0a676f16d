import { expect, test } from 'vitest'
import type { Reservation } from '../../src/core/shared-calls.ts'
import { connectClient, openContext } from '../helpers/connect-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { type ScriptedAnswer, startScriptedService } from '../helpers/scripted-service.ts'

const paging = { page: 1, pageSize: 100 }
/** What the service's clock shows, far from this machine's. */
const DATE = 'Sat, 02 Jan 2027 03:04:05 GMT'
const resumesAt = '2026-11-20T16:00:00.000Z'

/** One call of 4.6, each attempt of which is answered so. */
async function ask(answer: ScriptedAnswer) {
  const journal: string[] = []
  await using service = await startScriptedService(({ path }) => {
    // The clocks differ by so much that a list is asked for, too.
    if (!path.endsWith('/userRecords')) return { status: 404, headers: { date: DATE }, text: '' }
    journal.push('call')
    return answer
  })
  const reserve = async (channelId: string): Promise<Reservation> => {
    journal.push(`reserve ${channelId}`)
    return { scope: 'account', serviceDay: '2026-11-20', resumesAt, spendDay: async () => void journal.push('spend') }
  }
  await using connection = connectClient(service.url, { reserve })
  const outcome = await connection
    .fetchPage({ list: listOf('watch_records_v1', { channel: '9' }), ...paging }, openContext())
    .catch((error: unknown) => error)
  return { outcome, journal }
}

test.each<[string, ScriptedAnswer]>([
  ['503', { status: 503, text: '' }],
  ['a lost connection', { raw: (response) => response.destroy() }],
])(
  'a call of 4.6 that ends with %s is repeated once, and each attempt is charged before it is made',
  async (_case, answer) => {
    const { journal, outcome } = await ask(answer)
    expect(journal).toEqual(['reserve 9', 'call', 'reserve 9', 'call'])
    expect(String(outcome)).toContain('after 2 attempts')
  },
)

test('the ten calls a day of 4.6 are not spent where the token ends after one was taken, and the next is refused', async () => {
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
  expect(journal).toEqual(['token', 'reserve', 'token', 'token', 'reserve', 'userRecords'])
})
