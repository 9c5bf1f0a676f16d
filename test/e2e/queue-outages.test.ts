import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { systemClock } from '../../src/core/clock.ts'
import { openQueue } from '../../src/scheduler/open-queue.ts'
import { startEmbedded, stopEmbedded } from '../../src/store/embedded.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { ofTest } from '../helpers/of-file.ts'
import { createPassableFolder, isRoot } from '../helpers/operating-system.ts'
import { openTransaction, untilBlocked } from '../helpers/own-locks.ts'
import { createTestDatabase, databaseUrl } from '../helpers/postgres.ts'
import { startQueueAccount, stop } from '../helpers/queue-account.ts'
import { stopAtEnd } from '../helpers/temporary-folder.ts'
import { createTestRole } from '../helpers/test-role.ts'

const never = new AbortController().signal

const account = ofTest(startQueueAccount)

/** Takes all advisory locks that pg-boss takes by default. */
const advisoryLocks = `select pg_advisory_lock(('x' || encode(sha224(
    (current_database() || '.pgboss.pgboss' || key)::bytea), 'hex'))::bit(64)::bigint)
  from unnest(array['', 'create-queue', 'job_commonfailJobsByHeartbeat', 'job_commonfailJobsByTimeout']) as key`

test('processes that start at the same moment create the schema of the queue once', async () => {
  const target = { kind: 'url', url: account.database.url } as const
  const settings = { target, dataDir: '', queueUrl: undefined, isAutoMigrated: true }
  await using other = await openTransaction(account.database.db)
  await sql`create schema pgboss`.execute(other)
  const opened = Array.from({ length: 4 }, async () => await openQueue(createTestContext().context, settings))
  await untilBlocked(account.database.db, sql`true`)
  await other.commit().execute()
  const [first, ...others] = await Promise.all(opened)
  for (const queue of others) await queue[Symbol.asyncDispose]()
  await using queue = first
  // A run does not wait for a job that pg-boss has deleted before the run looked for its end.
  const [waiting, gone] = [randomUUID(), randomUUID()]
  await queue?.send('partitions', [{ id: waiting, key: 'a', priority: 1, data: {} }])
  const output = { message: 'its job is gone' }
  expect(await queue?.readEnded('partitions', [waiting, gone])).toEqual([{ id: gone, state: 'failed', output }])
})

test('an attempt whose end is not recorded counts in the run, with the queue in another database too', async () => {
  await using other = await createTestDatabase({ isMigrated: false })
  const settings = { LIVEHOUSE_QUEUE_URL: other.url }
  const worker = await account.startWorker(settings)
  // The job stays active, and its worker's last heartbeat is a minute old.
  await sql`create function pgboss.lose() returns trigger language plpgsql as $$
    begin old.heartbeat_on := now() - interval '1 min'; return old; end $$`.execute(other.db)
  await sql`create trigger lose before update on pgboss.job for each row
    when (new.state = 'completed' and new.name = 'partitions' and new.retry_count = 0)
    execute function pgboss.lose()`.execute(other.db)
  const { code, outcome } = await account.sync(['--streams', 'visitors,gifts'], { settings })
  expect(code).toBe(0)
  await expectTruth(account, ['visitors', 'gifts'])
  const { visitors, gifts } = outcome.streams
  expect(visitors).toMatchObject({ extracted: 120, inserted: 120, unchanged: 0, calls: 2, slices: { verified: 2 } })
  expect(gifts.inserted).toBe(account.emulator.truth().gifts?.length)
  const { rows } = await sql`select from pg_namespace where nspname = 'pgboss'`.execute(account.database.db)
  expect(rows).toEqual([])
  await stop(worker)
})

test('a partition that no attempt finished is an error of its run; one that a worker has dropped is not', async () => {
  const flags = ['--streams', 'managers,questionnaires']
  const running = account.sync(flags)
  await account.untilQueued('created', 3)
  // As after the last attempt.
  await sql`update pgboss.job set state = 'failed', output = '{"message": "its disk is full"}', completed_on = now()
    where singleton_key = 'managers account'`.execute(account.database.db)
  // As a worker does that finds the run's lease expired, after the database or the run's machine stood still.
  await sql`update pgboss.job set state = 'cancelled' where state = 'created'`.execute(account.database.db)
  const worker = await account.startWorker()
  const { code, outcome } = await running
  const message = 'managers account: no worker could finish it: its disk is full'
  const error = { stream: 'managers', partition: 'account', code: 'job.failed', message }
  expect([code, outcome.errors]).toEqual([3, [error]])
  expect(await account.sync(flags)).toMatchObject({ code: 0 })
  await stop(worker)
})

test.each([
  ['has no accepted token', { LIVEHOUSE_API_TOKEN: 'wrong' }, /check LIVEHOUSE_API_TOKEN \(\S+ process \d+\)/],
  ['cannot reach the service', { HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: '' }, /no connection to the address/],
  ['is set to another source', { LIVEHOUSE_TIMEZONE: 'UTC' }, /LIVEHOUSE_TIMEZONE was Asia/],
])('a worker that %s leaves its partitions to others', async (_, settings, reason) => {
  const wrong = await account.startWorker(settings)
  await account.run(sync, ['--streams', 'managers'])
  const running = account.sync()
  expect(await wrong.untilOutput('"worker.rests"')).toMatch(reason)
  const right = await account.startWorker()
  expect((await running).code).toBe(0)
  for (const worker of [wrong, right]) await stop(worker)
})

test('a run that no worker can finish, or for which none has an accepted token, ends and says so', async () => {
  const settings = { LIVEHOUSE_CHANNELS: Array.from({ length: 21 }, (_, id) => id + 1).join() }
  const running = account.sync(['--streams', 'visitors'], { settings })
  await account.untilQueued('created', 21)
  await sql`update pgboss.job set state = 'failed' where singleton_key not like '%=21'`.execute(account.database.db)
  expect((await running).outcome.errors.at(-1).message).toMatch(/no worker could finish it/)
  const worker = await account.startWorker({ LIVEHOUSE_API_TOKEN: 'wrong' })
  const message = expect.stringContaining('check LIVEHOUSE_API_TOKEN')
  expect(await account.sync()).toMatchObject({ code: 1, outcome: { status: 'failed', errors: [{ message }] } })
  await stop(worker)
})

test('a run does not end early if no worker can finish every other partition', async () => {
  const settings = { LIVEHOUSE_CHANNELS: Array.from({ length: 48 }, (_, id) => id + 1).join() }
  const running = account.sync(['--streams', 'visitors'], { settings })
  await account.untilQueued('created', 48)
  const output = { result: { status: 'ok', streams: {}, errors: [], resumesAt: null }, ends: [] }
  const state = sql`case when singleton_key ~ '[02468]$' then 'completed' else 'failed' end::pgboss.job_state`
  await sql`update pgboss.job set state = ${state}, output = ${JSON.stringify(output)}::jsonb
    where name = 'partitions'`.execute(account.database.db)
  expect(await running).toMatchObject({ code: 3, outcome: { status: 'partial' } })
})

test('a run reads again what another server lacks that replaces the first one, and nothing else', async () => {
  const folder = stopAtEnd(await createPassableFolder('restarted'))
  const settings = { DATABASE_URL: 'embedded', LIVEHOUSE_DATA_DIR: folder, LIVEHOUSE_QUEUE_URL: account.database.url }
  const worker = await account.startWorker(settings)
  for (let run = 0; run < 2; run++) await account.sync(['--streams', 'watch_records'], { settings })
  const asked = account.atFirstList(() => {}, { endpoint: 'signupRecord' })
  const running = account.sync([], { settings })
  await asked
  await stopEmbedded(folder, never)
  await using db = await openDatabase((await startEmbedded(folder, systemClock, never)).url('livehouse'))
  await sql`truncate livehouse.visitors, livehouse.watch_records`.execute(db)
  await sql`delete from livehouse_ops.slices where stream in ('visitors', 'watch_records')`.execute(db)
  await sql`update livehouse_ops.leases set expires_at = now() where name like 'partition %'`.execute(db)
  expect(await running).toMatchObject({ code: 0, outcome: { status: 'ok' } })
  await expectTruth({ emulator: account.emulator, database: { db } })
  const countCalls = (name: string) => account.emulator.calls.filter(({ endpoint }) => endpoint === name).length
  expect([countCalls('visitorList'), countCalls('giftRunning')]).toEqual([4, 12])
  await stop(worker)
})

test('whatever locks a stranger holds, another worker replaces a stopped one, which overwrites nothing', async () => {
  await using stranger = await createTestRole()
  await using session = new AsyncDisposableStack()
  const client = new Client({ connectionString: databaseUrl(account.database.name, stranger) })
  session.defer(async () => await client.end())
  await client.connect()
  await client.query(advisoryLocks)
  const first = await account.startWorker()
  const stopped = account.atFirstList(() => first.process.kill('SIGSTOP'))
  onTestFinished(() => void first.process.kill('SIGCONT'))
  const running = account.sync()
  await stopped
  await account.expireLeases()
  for (const { visitors } of account.emulator.world.channels.values())
    for (const visitor of visitors.rows) visitors.replace(visitor, { ...visitor, nick: `${visitor.nick} II` })
  const second = await account.startWorker()
  expect(await running).toMatchObject({ code: 0, outcome: { status: 'ok' } })
  await expectTruth(account)
  first.process.kill('SIGCONT')
  await first.untilOutput('"job.lost"')
  for (const worker of [first, second]) await stop(worker)
  await expectTruth(account)
})

const pgbouncer = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'].find(existsSync)

test.skipIf(pgbouncer === undefined)('workers and a run go through PgBouncer in transaction mode', async () => {
  await using account = await startQueueAccount(await createTestDatabase({ isMigrated: false }))
  const settings = { DATABASE_URL: await startPooler(account.database.url), LIVEHOUSE_AUTO_MIGRATE: '1' }
  const [first, second] = [await account.startWorker(settings), await account.startWorker(settings)]
  const killed = account.atFirstList(() => first.process.kill('SIGKILL'))
  const running = account.sync([], { settings })
  await killed
  await first.ended
  await account.expireLeases()
  expect(await running).toMatchObject({ code: 0, outcome: { status: 'ok' } })
  await expectTruth(account)
  await stop(second)
})

/** Starts PgBouncer for a test, with five server connections. @returns the URL through it */
async function startPooler(url: string): Promise<string> {
  const { hostname, port, username, password } = new URL(url)
  const folder = await createPassableFolder('pgbouncer')
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port: listenPort } = Object(free.address()) satisfies AddressInfo
  free.close()
  const [file, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')]
  const [name, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
  await writeFile(users, `"${name}" "${secret}"\n`)
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${port || 5432} user=${name} password=${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = 5
`,
  )
  const child = spawn(pgbouncer ?? '', [...(isRoot ? ['-u', 'nobody'] : []), file])
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stderr.on('data', (text) => void (output += text))
  while (child.exitCode === null && !output.includes('process up'))
    await Promise.race([once(child.stderr, 'data'), once(child, 'exit')])
  if (child.exitCode !== null) throw new Error(`PgBouncer did not start:\n${output}`)
  return Object.assign(new URL(url), { host: `127.0.0.1:${listenPort}` }).href
}
