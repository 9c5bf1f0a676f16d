import { type Kysely, sql } from 'kysely'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts'
import { createSharedTokenStore } from '../../src/ledger/shared-token-store.ts'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { connectClient, openContext } from '../helpers/connect-client.ts'
import { emptyTables } from '../helpers/empty-tables.ts'
import { listOf } from '../helpers/emulated-client.ts'
import { FIXED_NOW } from '../helpers/emulated-service.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const database = ofFile(createTestDatabase)
let elsewhere: Kysely<Database>
const { signal } = openContext()
const application = { authUrl: 'https://auth.example', appId: 'app-1', appSecret: 'hush', clock: systemClock }
const token = { value: 'token-1', issuedAtMs: 1_000, expiresAtMs: 7_201_000.5 }

beforeAll(async () => {
  // A pool with a single connection.
  elsewhere = await openDatabase(database.url, { maxConnections: 1 })
  return async () => await elsewhere.destroy()
})

beforeEach(async () => await emptyTables(database.db))

test('other processes can read the token, but the database does not show it', async () => {
  await createSharedTokenStore(database.db, application).replace(async () => token, signal)
  expect(await createSharedTokenStore(elsewhere, application).read(signal)).toEqual(token)
  const { rows } = await sql<{ row: string }>`
    select a::text || encode(sealed, 'escape') as row from livehouse_ops.access_tokens a`.execute(elsewhere)
  expect(rows).toHaveLength(1)
  expect(rows[0]?.row).not.toMatch(/token-1|hush/)
})

test.each([
  ['another secret', { appSecret: 'changed' }],
  ['another app id', { appId: 'app-2' }],
  ['another address', { authUrl: 'https://other.example' }],
])('a stored token is ignored with %s', async (_case, change) => {
  await createSharedTokenStore(database.db, application).replace(async () => token, signal)
  const other = createSharedTokenStore(elsewhere, { ...application, ...change })
  expect(await other.read(signal)).toBeUndefined()
  await other.replace(async () => token, signal)
  expect(await other.read(signal)).toEqual(token)
})

test('a process that freezes while it renews the token holds no connection, and does not block others', async () => {
  const renewing = Promise.withResolvers<void>()
  const never = Promise.withResolvers<void>()
  const store = createSharedTokenStore(elsewhere, application)
  const frozen = store.replace(async () => {
    renewing.resolve()
    await never.promise
    return token
  }, signal)
  await renewing.promise
  expect(await store.read(signal)).toBeUndefined()
  await sql`update livehouse_ops.leases set expires_at = now()`.execute(database.db)
  const renewed = { ...token, value: 'token-2' }
  expect(await createSharedTokenStore(database.db, application).replace(async () => renewed, signal)).toBe(renewed)
  expect(await store.read(signal)).toEqual(renewed)
  never.resolve()
  expect(await frozen).toBe(token)
})

/** Two processes with a pool each, and a clock that the test sets. */
async function startTwo(options: EmulatorOptions = {}) {
  const time = { nowMs: FIXED_NOW }
  const clock = { now: () => time.nowMs, sleep: systemClock.sleep }
  const resources = new AsyncDisposableStack()
  const emulator = resources.use(await startEmulator({ channels: 1, viewers: 3, days: 1, clock, ...options }))
  const { authUrl, appId, appSecret } = emulator
  const account = { authUrl, appId, appSecret, clock }
  const open = (db: Kysely<Database>, secrets: string[] = []) => {
    const tokenStore = createSharedTokenStore(db, account)
    const addSecret = (value: string) => void secrets.push(value)
    return connectClient(emulator.baseUrl, { ...account, apiToken: null, tokenStore, addSecret })
  }
  const secrets: [string[], string[]] = [[], []]
  const processes = [open(database.db, secrets[0]), open(elsewhere, secrets[1])].map((each) => resources.use(each))
  const fetchPages = async () =>
    await Promise.all(
      processes.flatMap((connection) =>
        [1, 2, 3].map(() => connection.fetchPage({ list: listOf('managers'), page: 1, pageSize: 1 }, openContext())),
      ),
    )
  return {
    emulator,
    time,
    secrets,
    open,
    fetchPages,
    [Symbol.asyncDispose]: async () => await resources.disposeAsync(),
  }
}

function countCalls({ calls }: Emulator) {
  const tokens = calls.filter(({ endpoint }) => endpoint === 'token')
  return { fetched: tokens.length, refused: calls.filter(({ status }) => status === 401).length }
}

test('two processes share one token, replace one that is refused, and use one that a third has fetched', async () => {
  await using pair = await startTwo({ switches: { newTokenEndsOld: true } })
  await pair.fetchPages()
  expect(countCalls(pair.emulator)).toEqual({ fetched: 1, refused: 0 })
  expect(pair.secrets[0]).toHaveLength(1)
  expect(pair.secrets[1]).toEqual(pair.secrets[0])
  pair.emulator.credentials.revokeTokens()
  await pair.fetchPages()
  expect(countCalls(pair.emulator)).toEqual({ fetched: 2, refused: 6 })
  await using third = pair.open(database.db)
  await third.accessToken(openContext())
  await pair.fetchPages()
  expect(countCalls(pair.emulator)).toEqual({ fetched: 3, refused: 12 })
})

test.each([false, true])('processes cope with tokens of 3 seconds, ended by new ones: %s', async (newTokenEndsOld) => {
  await using pair = await startTwo({ tokenSeconds: 3, switches: { newTokenEndsOld } })
  const seconds = 30
  for (; pair.time.nowMs < FIXED_NOW + seconds * 1000; pair.time.nowMs += 250) await pair.fetchPages()
  const { fetched, refused } = countCalls(pair.emulator)
  expect(fetched).toBeGreaterThan(seconds / 3)
  expect(fetched).toBeLessThanOrEqual(1 + seconds / 2.25)
  // Renewal is early enough for all calls; if a new token ends the old one, the calls in flight are refused.
  expect(refused).toBeLessThanOrEqual(newTokenEndsOld ? fetched * 6 : 0)
})
