import { describe, expect, test } from 'vitest'
import type { Reservation } from '../../src/service/budget.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import { connectClient, openContext } from '../helpers/connect-client.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { type ScriptedAnswer, startScriptedService } from '../helpers/scripted-service.ts'

const paging = { page: 1, pageSize: 100 }
/** What the service's clock shows, far from this machine's. */
const DATE = 'Sat, 02 Jan 2027 03:04:05 GMT'
const resumesAt = '2026-11-20T16:00:00.000Z'

/** One call of 4.6 against a budget of `left` calls; the service answers each attempt in turn. */
async function ask(answers: readonly ScriptedAnswer[], left = 10) {
  const journal: string[] = []
  const clockTimes: number[] = []
  let calls = 0
  await using service = await startScriptedService(({ path }) => {
    if (path === '/') return { status: 404, headers: { date: DATE }, text: '' }
    journal.push('call')
    return answers[calls++] ?? { json: [] }
  })
  const reserve = async (channelId: string, atMs: number): Promise<Reservation> => {
    clockTimes.push(atMs)
    const details = { scope: 'account', serviceDay: '2026-11-20', resumesAt }
    if (journal.filter((entry) => entry.startsWith('reserve')).length >= left) {
      throw new LivehouseError('api.budgetSpent', 'none left', details)
    }
    journal.push(`reserve ${channelId}`)
    return { ...details, spendDay: async () => void journal.push('spend') }
  }
  await using connection = connectClient(service.url, { reserve })
  const outcome = await connection
    .fetchPage({ list: listOf('watch_records_v1', { channel: '9' }), ...paging }, openContext())
    .catch((error: unknown) => error)
  return { outcome, journal, clockTimes }
}

describe('the ten calls a day of 4.6', () => {
  test('each is taken before it is made', async () => {
    const { journal, outcome } = await ask([{ json: [{ record_id: 1 }] }])
    expect(outcome).toMatchObject({ items: [{ record_id: 1 }] })
    expect(journal).toEqual(['reserve 9', 'call'])
  })

  test.each<[string, ScriptedAnswer]>([
    ['503', { status: 503, text: '' }],
    ['a lost connection', { raw: (response) => response.destroy() }],
  ])('%s is repeated once, and each attempt is charged', async (_case, answer) => {
    const { journal, outcome } = await ask([answer, answer])
    expect(journal).toEqual(['reserve 9', 'call', 'reserve 9', 'call'])
    expect(String(outcome)).toContain('after 2 attempts')
  })
})
