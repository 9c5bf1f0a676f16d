import { describe, expect, test } from 'vitest'
import type { Reservation } from '../../src/service/budget.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import { connectClient, errorOf, openContext } from '../helpers/connect-client.ts'
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

  test("is charged by the service's clock, which is asked before the first", async () => {
    const { clockTimes } = await ask([])
    expect(clockTimes).toEqual([Date.parse(DATE)])
  })

  test.each<[string, ScriptedAnswer]>([
    ['429', { status: 429, text: '' }],
    ['429001', { json: { errors: { code: 429001, message: 'Touch rate limit' } } }],
    ['an errcode', { json: { errcode: 1, msg: 'too often' } }],
    ['400', { status: 400, text: '' }],
    ['403', { status: 403, text: '' }],
    ['404', { status: 404, text: '' }],
    ['408', { status: 408, text: '' }],
    ['404002', { json: { errors: { code: 404002, message: 'No such activity' } } }],
    ['400009', { json: { errors: { code: 400009, message: 'once more tomorrow' } } }],
    ['status n', { json: { status: 'n', msg: 'no', flag: 101 } }],
  ])('%s means that the day is spent, and is not repeated', async (_case, answer) => {
    const { journal, outcome } = await ask([answer])
    expect(journal).toEqual(['reserve 9', 'call', 'spend'])
    expect(outcome).toMatchObject({ code: 'api.budgetSpent', details: { serviceDay: '2026-11-20', resumesAt } })
  })

  test.each<[string, ScriptedAnswer]>([
    ['503', { status: 503, text: '' }],
    ['a lost connection', { raw: (response) => response.destroy() }],
  ])('%s is repeated once, and each attempt is charged', async (_case, answer) => {
    const { journal, outcome } = await ask([answer, answer])
    expect(journal).toEqual(['reserve 9', 'call', 'reserve 9', 'call'])
    expect(String(outcome)).toContain('after 2 attempts')
  })

  test('a repetition that the budget no longer has is not made', async () => {
    const { journal, outcome } = await ask([{ status: 503, text: '' }], 1)
    expect(journal).toEqual(['reserve 9', 'call'])
    expect(outcome).toMatchObject({ code: 'api.budgetSpent' })
  })

  test('a 429 does not slow the other calls down: it speaks of the day', async () => {
    await using service = await startScriptedService((request) =>
      request.path.endsWith('userRecords') ? { status: 429, headers: { 'retry-after': '50' }, text: '' } : { json: [] },
    )
    const reservation = { scope: 'account', serviceDay: '2026-11-20', resumesAt, spendDay: async () => {} }
    const refusals: unknown[] = []
    const permits = { take: async () => ({ answered: () => {}, refused: (wait: unknown) => refusals.push(wait) }) }
    await using connection = connectClient(service.url, { permits, reserve: async () => reservation })
    await errorOf(
      connection.fetchPage({ list: listOf('watch_records_v1', { channel: '9' }), ...paging }, openContext()),
    )
    expect(refusals).toEqual([])
  })

  test('without a budget the call is not made', async () => {
    await using service = await startScriptedService(() => ({ json: [] }))
    await using connection = connectClient(service.url)
    await expect(
      connection.fetchPage({ list: listOf('watch_records_v1', { channel: '9' }), ...paging }, openContext()),
    ).rejects.toThrow(/without a budget/)
    expect(service.requests).toHaveLength(0)
  })
})
