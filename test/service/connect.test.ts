import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ListRequest } from '../../src/core/page.ts'
import { parseWallTime } from '../../src/core/wall-clock.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import type { Connection } from '../../src/service/connect.ts'
import type { Permits } from '../../src/service/permits.ts'
import { askTicket, connectClient, errorOf, openContext, saveMenu } from '../helpers/connect-client.ts'
import { connectTo, listIn, listOf } from '../helpers/emulated-client.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'

/** A day long ago. */
const past = { from: parseWallTime('2000-01-01 00:00:00') ?? 0, to: parseWallTime('2000-01-02 00:00:00') ?? 0 }

let emulator: Emulator
let connection: Connection
let channelId: string

beforeAll(async () => {
  emulator = await startEmulator({ channels: 2, viewers: 150, days: 10 })
  connection = connectTo(emulator)
  channelId = emulator.channelIds[0] ?? ''
})

afterAll(async () => {
  await connection[Symbol.asyncDispose]()
  await emulator[Symbol.asyncDispose]()
})

beforeEach(() => {
  emulator.faults.length = 0
  Object.assign(emulator.switches, { listParams: 'query', emptyLists: 'array', totals: 'number', errcodeStatus: 'ok' })
})

/** All items of a list, page by page. */
async function walk(
  list: ListRequest,
  pageSize: number,
): Promise<{ items: unknown[]; totals: (number | undefined)[] }> {
  const items: unknown[] = []
  const totals: (number | undefined)[] = []
  for (let page = 1; ; page += 1) {
    const answer = await connection.fetchPage({ list, page, pageSize }, openContext())
    items.push(...answer.items)
    totals.push(answer.total)
    if (answer.items.length < pageSize) return { items, totals }
  }
}

function valuesOf(items: readonly unknown[], field: string): string[] {
  return items.map((item) => String(Reflect.get(Object(item), field))).sort()
}

const channelRows = () => emulator.world.channels.get(channelId)

describe('the lists hold what the service has', () => {
  test('4.7 visitors', async () => {
    const rows = channelRows()?.visitors.rows ?? []
    const { items, totals } = await walk(listIn(emulator, 'visitors'), 40)
    expect(valuesOf(items, 'user_id')).toEqual(rows.map(({ userId }) => userId).sort())
    expect(new Set(totals)).toEqual(new Set([rows.length]))
  })

  test('4.5 watch records, ids beyond 2^53 included', async () => {
    const rows = channelRows()?.records.rows ?? []
    const { items } = await walk(listIn(emulator, 'watch_records'), 100)
    expect(items.length).toBeGreaterThan(100)
    expect(valuesOf(items, 'record_id')).toEqual(rows.map(({ recordId }) => recordId).sort())
  })

  test('4.5 filters by time', async () => {
    const page = await connection.fetchPage(
      { list: { ...listIn(emulator, 'watch_records'), window: past }, page: 1, pageSize: 20 },
      openContext(),
    )
    expect(page).toMatchObject({ items: [], total: 0 })
  })

  test('4.6 watch records of version 1, a bare array', async () => {
    const rows = channelRows()?.oldRecords.rows ?? []
    const { items, totals } = await walk(listIn(emulator, 'watch_records_v1'), 100)
    expect(valuesOf(items, 'record_id')).toEqual(rows.map(({ recordId }) => recordId).sort())
    expect(new Set(totals)).toEqual(new Set([undefined]))
  })

  test('4.12 gifts of one type, a bare array', async () => {
    const rows = channelRows()?.gifts.rows.filter(({ type }) => type === 'cash') ?? []
    const { items } = await walk(listIn(emulator, 'gifts'), 20)
    expect(valuesOf(items, 'money')).toEqual(rows.map(({ money }) => money).sort())
  })

  test('4.10 questionnaires, a GET with a body', async () => {
    const rows = channelRows()?.questionnaires.rows ?? []
    const { items } = await walk(listIn(emulator, 'questionnaires'), 2)
    expect(valuesOf(items, 'question_id')).toEqual(rows.map(({ questionId }) => questionId).sort())
  })

  test('4.11 signups, rows of cells with their headers', async () => {
    const form = channelRows()?.questionnaires.rows[0]
    const paging = { page: 1, pageSize: 50 }
    const page = await connection.fetchPage({ list: listIn(emulator, 'signups'), ...paging }, openContext())
    expect(page.total).toBe(form?.signups.rows.length)
    expect(page.title).toHaveLength(4 + (form?.questions.length ?? 0))
    expect(page.title?.slice(3, -1)).toEqual(form?.questions)
  })

  test.each(['query', 'body'] as const)(
    '4.8 and 4.9, where the service reads parameters from the %s',
    async (place) => {
      emulator.switches.listParams = place
      await using fresh = connectTo(emulator)
      const ids = emulator.world.managers.rows.map(({ id }) => id).sort()
      const usage = await fresh.fetchPage({ list: listOf('manager_usage'), page: 1, pageSize: 10 }, openContext())
      const managers = await fresh.fetchPage({ list: listOf('managers'), page: 1, pageSize: 100 }, openContext())
      expect(usage.total).toBe(ids.length)
      expect(usage.items).toHaveLength(Math.min(10, ids.length))
      expect(valuesOf(managers.items, 'id')).toEqual(ids)
    },
  )

  test.each(['array', 'null', 'missing'] as const)('no rows, as %s, with totals as text', async (emptyLists) => {
    Object.assign(emulator.switches, { emptyLists, totals: 'text' })
    const channel = emulator.world.channels.get(emulator.channelIds[1] ?? '')
    const partition = { channel: channel?.id ?? '', question: channel?.questionnaires.rows[0]?.questionId ?? '' }
    const paging = { page: 1, pageSize: 50 }
    const signups = await connection.fetchPage({ list: listOf('signups', partition, past), ...paging }, openContext())
    const records = await connection.fetchPage(
      { list: listOf('watch_records', partition, past), ...paging },
      openContext(),
    )
    expect([signups.items, signups.total, records.items, records.total]).toEqual([[], 0, [], 0])
  })
})

describe('the other calls', () => {
  test('4.1 and 4.2: the token is fetched, the ticket is redeemed once', async () => {
    const token = await connection.accessToken(openContext())
    expect(token.expiresAtMs - token.issuedAtMs).toBe(7_200_000)
    const hashActId = channelRows()?.hashId ?? ''
    const request = { scope: 'outer_visitor', outerId: 'user42', hashActId, clientIp: '203.0.113.7', username: '观众' }
    const ticket = await askTicket(connection, request)
    const redeem = () => fetch(`${emulator.authUrl}/v2/oauth2/authorize?ticket=${ticket}`, { redirect: 'manual' })
    expect((await redeem()).status).toBe(302)
    expect((await redeem()).status).not.toBe(302)
  })

  test('4.3 and 4.4: a menu is added, then changed', async () => {
    const [vid = 0] = emulator.world.videoIds
    const created = await saveMenu(connection, channelId, undefined, { name: '精彩回放', type: 3, vids: [vid] })
    expect(created.result).toBe('success')
    const menuId = Number(created.menuId)
    const updated = await saveMenu(connection, channelId, menuId, { type: 2, richText: '<p>你好</p>' })
    expect(updated.menuId).toBe(menuId)
    expect(channelRows()?.menus.get(menuId)).toMatchObject({ name: '精彩回放', type: 2, richText: '<p>你好</p>' })
  })

  test('a wrong secret is refused credentials, whatever the status', async () => {
    for (const errcodeStatus of ['ok', 'matching'] as const) {
      emulator.switches.errcodeStatus = errcodeStatus
      await using wrong = connectTo(emulator, { apiToken: null, appSecret: 'not-the-secret' })
      await expect(wrong.accessToken(openContext())).rejects.toMatchObject({ code: 'api.credentialsRefused' })
      const reading = wrong.fetchPage({ list: listOf('managers'), page: 1, pageSize: 20 }, openContext())
      await expect(reading).rejects.toMatchObject({ code: 'api.credentialsRefused' })
    }
  })

  test('a token that ends suddenly is renewed unseen', async () => {
    await using fetching = connectTo(emulator, { apiToken: null })
    const ask = () => fetching.fetchPage({ list: listOf('managers'), page: 1, pageSize: 20 }, openContext())
    const before = await ask()
    emulator.revokeTokens()
    expect((await ask()).items).toEqual(before.items)
  })

  test('a channel that the service does not know', async () => {
    const paging = { page: 1, pageSize: 20 }
    const unknown = { channel: '99999999', type: 'cash' }
    const asks = [
      connection.fetchPage({ list: listOf('questionnaires', unknown), ...paging }, openContext()),
      connection.fetchPage({ list: listOf('gifts', unknown), ...paging }, openContext()),
      connection.fetchPage({ list: listOf('visitors', unknown), ...paging }, openContext()),
    ]
    for (const ask of asks) expect(await errorOf(ask)).toMatchObject({ code: 'api.channelUnknown' })
  })
})

test('a connection that is closed calls no more: neither what waits to be repeated nor what comes after', async () => {
  await using service = await startScriptedService(() => ({ status: 502, text: '' }))
  const clock = createFakeClock({ isAutomatic: true })
  const own = connectClient(service.url, {
    clock: {
      ...clock,
      sleep: async (ms, signal) => {
        await own[Symbol.asyncDispose]()
        await clock.sleep(ms, signal)
      },
    },
  })
  const ask = async () =>
    await errorOf(own.fetchPage({ list: listOf('visitors', { channel: '9' }), page: 1, pageSize: 100 }, openContext()))
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
  await using own = connectClient(service.url, { ...credentials, permits })
  const calls = Array.from({ length: 10 }, () =>
    own.fetchPage({ list: listOf('managers'), page: 1, pageSize: 1 }, openContext()),
  )
  await asked.promise
  expect(taken).toBe(1)
  issued.resolve()
  await Promise.all(calls)
  expect(taken).toBe(11)
})
