import { type Kysely, type PluginTransformQueryArgs, sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createSharedPace } from '../../src/ledger/shared-pace.ts'
import { createPace } from '../../src/service/pace.ts'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { openContext } from '../helpers/connect-client.ts'
import { emptyTables } from '../helpers/empty-tables.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase, onServer } from '../helpers/postgres.ts'
import { startStallingProxy } from '../helpers/stalling-proxy.ts'

const database = ofFile(createTestDatabase)
const host = 'service.example'

beforeEach(async () => await emptyTables(database.db))

const addOne = (pace: unknown) => ({ pace: { count: 1 + (Object(pace).count ?? 0) } })

async function readPaces(db: Kysely<Database>) {
  return await db.selectFrom('livehouse_ops.call_paces').select(['host', 'version', 'pace']).execute()
}

test('concurrent changes by several processes are all stored', async () => {
  await using elsewhere = await openDatabase(database.url)
  const processes = [database.db, elsewhere, database.db, elsewhere].map((db) =>
    createSharedPace(db, host, systemClock),
  )
  const change = async (exchange: (typeof processes)[number]) => {
    for (let times = 0; times < 25; times += 1) await exchange(addOne)
  }
  await Promise.all(processes.map(change))
  expect(await readPaces(database.db)).toEqual([{ host, version: '100', pace: { count: 100 } }])
})

test('a statement whose version is out of date returns the current state', async () => {
  await using wire = await startStallingProxy(database.url)
  await using far = await openDatabase(wire.url)
  let statements = 0
  const transformQuery = ({ node }: PluginTransformQueryArgs) => {
    statements += 1
    return node
  }
  const countingDb = far.withPlugin({ transformQuery, transformResult: async ({ result }) => result })
  const near = createSharedPace(database.db, host, systemClock)
  let other: Promise<unknown> | undefined
  const exchange = createSharedPace(countingDb, host, systemClock)
  await exchange((pace) => {
    other ??= wire.hold(near(addOne))
    return addOne(pace)
  })
  await other
  expect(await readPaces(database.db)).toMatchObject([{ version: '2', pace: { count: 2 } }])
  expect(statements).toBe(3)
})

test("the database's clock counts, whatever the machines' clocks show", async () => {
  const shifted = [-3_600_000, 0, 7_200_000].map((shift) => {
    return createSharedPace(database.db, host, { sleep: systemClock.sleep, now: () => systemClock.now() + shift })
  })
  const ahead: number[] = []
  const startMs = performance.now()
  for (const exchange of shifted)
    await exchange((pace, nowMs) => ({ pace, ahead: ahead.push(nowMs - performance.now()) }))
  // The time of a request is known only as precisely as its answer is quick.
  expect(Math.max(...ahead) - Math.min(...ahead)).toBeLessThan(performance.now() - startMs)
})

test('a late answer does not set the time back', async () => {
  // Between the first and the second reading of the clock, 300 ms more pass.
  let readings = Number.NEGATIVE_INFINITY
  const monotonicMs = () => performance.now() + (++readings > 1 ? 300 : 0)
  const exchange = createSharedPace(database.db, host, { ...systemClock, monotonicMs })
  const aheadMs = async () => (await exchange((pace, nowMs) => ({ pace, ahead: nowMs - monotonicMs() }))).ahead
  const startMs = performance.now()
  const before = await aheadMs()
  readings = 0
  expect(Math.abs((await aheadMs()) - before)).toBeLessThan(performance.now() - startMs)
})

test('no call leaves while the database is unreachable; afterwards all continue below the ceiling', async () => {
  await using db = await openDatabase(database.url)
  let calls = 0
  const send = createPace(createSharedPace(db, host, systemClock), 20, systemClock).ceiling(async () => void calls++)
  const call = async () => await send({ endpoint: 'visitorList' }, openContext())
  await call()
  const allow = async (isAllowed: boolean) =>
    await onServer(async (admin) => {
      await sql`alter database ${sql.id(database.name)} allow_connections ${sql.lit(isAllowed)}`.execute(admin)
      await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = ${database.name}`.execute(admin)
    })
  await allow(false)
  const waiting = Array.from({ length: 20 }, call)
  await Promise.race([Promise.all(waiting), systemClock.sleep(1500)])
  // Some calls had already taken their instant.
  const before = calls
  expect(before).toBeLessThan(8)
  await allow(true)
  const startedAt = systemClock.now()
  await Promise.all(waiting)
  expect(systemClock.now() - startedAt).toBeGreaterThanOrEqual((20 - before - 8) * 50)
})

test('a refusal of the database fails the call before it leaves', async () => {
  await sql`alter table livehouse_ops.call_paces rename to other`.execute(database.db)
  const send = createPace(createSharedPace(database.db, host, systemClock), 20, systemClock).ceiling(async () => {})
  await expect(send({ endpoint: 'visitorList' }, openContext())).rejects.toMatchObject({ code: 'db.refused' })
  await sql`alter table livehouse_ops.other rename to call_paces`.execute(database.db)
})
