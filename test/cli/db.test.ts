import { execFile } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { db } from '../../src/cli/db.ts'
import { sync } from '../../src/cli/sync.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { openSession } from '../../src/store/open-session.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { expectKeptDays } from '../helpers/expect-kept-days.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { createPassableFolder } from '../helpers/operating-system.ts'
import { createTestDatabase, databaseUrl } from '../helpers/postgres.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { stopAtEnd } from '../helpers/temporary-folder.ts'
import { createTestRole } from '../helpers/test-role.ts'

const folder = stopAtEnd(await createPassableFolder('db'))

async function run(...argv: string[]) {
  const secrets: string[] = []
  const environment = { LIVEHOUSE_DATA_DIR: folder, PATH: '/nowhere' }
  const { context, printed } = createTestContext({ environment, addSecret: (value) => void secrets.push(value) })
  expect(await db.run(context, argv)).toBe(0)
  return { line: printed.join('\n'), secrets }
}

async function runStatement(statement: string) {
  await using database = await openDatabase((await run('url')).line)
  await sql.raw(statement).execute(database)
}

test('start, url, psql and stop serve a BI tool, even if PGSSLMODE demands TLS of other servers', async () => {
  vi.stubEnv('PGSSLMODE', 'require')
  const started = await run('start')
  const { line: url, secrets } = await run('url')
  const { host, password } = new URL(url)
  expect(started.line).toContain(`runs: ${host}/livehouse`)
  expect(started.line).not.toContain(password)
  expect(secrets).toEqual([password])
  const demo = (await run('url', '--database', 'livehouse_demo')).line
  for (const each of [url, demo]) await (await openDatabase(each)).destroy()
  expect((await run('psql')).line).toContain(url)
  expect((await run('stop')).line).toBe(`stopped: the PostgreSQL in ${folder}`)
  expect((await run('stop')).line).toBe(`no PostgreSQL runs in ${folder}`)
  vi.unstubAllEnvs()
})

test('psql replaces the process, and its arguments do not contain the password', async () => {
  const password = 'a/b@c%d'
  await runStatement(`alter role livehouse password '${password}'`)
  await writeFile(join(folder, 'private', 'password'), password)
  expect((await run('url')).secrets).toEqual([password])
  const fake = join(folder, 'psql')
  await writeFile(fake, '#!/bin/sh\necho "$PGUSER@$PGHOST/$PGDATABASE $PGPASSWORD $PGREQUIREAUTH $*"\nexit 7\n', {
    mode: 0o755,
  })
  const cli = join(import.meta.dirname, '..', '..', 'src', 'cli.ts')
  const child = promisify(execFile)(process.execPath, [cli, 'db', 'psql', '--', '-c', 'select 1'], {
    env: { LIVEHOUSE_DATA_DIR: folder, PATH: folder },
  })
  const stdout = `livehouse@127.0.0.1/livehouse ${password} scram-sha-256 -c select 1\n`
  await expect(child).rejects.toMatchObject({ code: 7, stdout })
})

test('the embedded database is copied to a server, or by file to an empty one, and the next sync goes on', async () => {
  await using stranger = await createTestRole()
  await using server = await createTestDatabase({ isMigrated: false })
  await using emulator = await startEmulator({ channels: 2, viewers: 60, days: 10 })
  for (const deadline of ['statement_timeout', 'lock_timeout']) {
    await sql.raw(`alter database ${server.name} set ${deadline} = '9s'`).execute(server.db)
    await using copying = await openSession(server.url, '--to', new AbortController().signal)
    expect(await copying.query(`show ${deadline}`)).toEqual([{ [deadline]: '0' }])
  }
  const onServer = { ...environmentOf(emulator, server), LIVEHOUSE_DATA_DIR: folder }
  const environment = { ...onServer, DATABASE_URL: 'embedded' }
  const tooEarly = await runVerb(db, ['copy', '--to', server.url], { environment })
  const message = expect.stringContaining('holds nothing yet')
  expect(tooEarly.error).toMatchObject({ code: 'db.copyRefused', message })
  const odd = await runVerb(db, ['copy', '--to', 'postgres://u@127.0.0.1:1/%E0%A4'], { environment })
  expect(odd.problems).toEqual([expect.stringMatching(/^--to \(not shown\) should be .* %25 for a %/)])
  await runVerb(sync, [], { environment })
  await runStatement(`insert into livehouse_ops.acceptances (stream, missing_rows, reason, accepted_at, expires_at)
    values ('visitors', 1, 'any', now(), 'infinity'); update livehouse_ops.slices set acceptance_id = 1`)
  for (const [to, repair] of [
    ['postgres://u@127.0.0.1:1/d', 'Check the address in --to'],
    [server.url.replace(/:[^:@]+@/, '@'), 'it requires a password, but none is given'],
    [databaseUrl('nowhere'), 'correct its name in --to'],
    [databaseUrl(server.name, stranger), 'Grant the right to the user of --to'],
  ] as const) {
    const { error } = await runVerb(db, ['copy', '--to', to], { environment })
    expect(error).toMatchObject({ message: expect.stringContaining(repair) })
    expect(error).toMatchObject({ message: expect.not.stringContaining('DATABASE_URL') })
  }
  // Others can read a password in the arguments, which is remarks on; one in PGPASSWORD they cannot.
  await using used = await createTestDatabase()
  const inQuery = new URL(used.url)
  inQuery.password = ''
  inQuery.searchParams.set('password', decodeURIComponent(new URL(used.url).password))
  const inUse = await runVerb(db, ['copy', '--to', inQuery.href], { environment })
  expect(inUse.remarks.join('\n')).toContain('other users of this machine can read the password')
  expect(inUse.error).toMatchObject({ message: expect.stringContaining('is in use. Name an empty database') })
  const { password } = new URL(server.url)
  vi.stubEnv('PGPASSWORD', decodeURIComponent(password))
  const copied = await runVerb(db, ['copy', '--to', server.url.replace(`:${password}@`, '@')], { environment })
  vi.unstubAllEnvs()
  expect(copied.code).toBe(0)
  expect(copied.remarks.join('\n')).not.toContain('other users of this machine')
  expect(copied.remarks).toContain('copied livehouse.visitors: 120 rows')
  expect([...copied.printed, ...copied.remarks].join('\n')).not.toContain(new URL(server.url).password)
  await expectTruth({ emulator, database: server })

  const nextSync = await runVerb(sync, ['--json'], { environment: onServer })
  const { streams } = Object(JSON.parse(nextSync.printed.join('')))
  expect(await expectKeptDays(server.db)).toMatchObject({ changed: 0 })
  expect(streams.visitors).toMatchObject({ inserted: 0, updated: 0, unchanged: 120 })
  // The ledger is copied too, so settled ranges are not read again.
  expect(streams.watch_records.calls).toBeLessThanOrEqual(4)

  const file = join(folder, 'livehouse.sql')
  for (const [name, make, remove] of [
    ['livehouse.gift', 'create table livehouse.gift (id int)', 'drop table livehouse.gift'],
    ['livehouse.gifts."Note"', 'alter table livehouse.gifts add "Note" int', 'alter table livehouse.gifts drop "Note"'],
  ] as const) {
    await runStatement(make)
    const { error } = await runVerb(db, ['dump', '--file', file], { environment })
    expect(error).toMatchObject({ message: expect.stringContaining(`: ${name} is not livehouse's own.`) })
    await runStatement(remove)
  }
  expect(await runVerb(db, ['dump', '--file', file], { environment })).toMatchObject({ code: 0 })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const elsewhere = stopAtEnd(await createPassableFolder('restored'))
  const there = { ...environment, LIVEHOUSE_DATA_DIR: elsewhere }
  const text = await readFile(file, 'utf8')
  for (const [content, reason] of [
    [text.slice(0, text.indexOf('select setval')), 'was cut short'],
    [text.slice(0, text.indexOf('\n', text.indexOf('copy livehouse.visitors')) + 1), 'was cut short'],
    [text.slice(1), 'was not written by livehouse db dump'],
  ] as const) {
    const broken = join(folder, 'broken.sql')
    await writeFile(broken, content)
    const { error } = await runVerb(db, ['restore', '--file', broken], { environment: there })
    expect(error).toMatchObject({ code: 'db.copyRefused', message: expect.stringContaining(reason) })
  }
  const unreadable = await runVerb(db, ['restore', '--file', folder], { environment: there })
  expect(unreadable.error).toMatchObject({ message: expect.stringContaining(`${folder} cannot be read (EISDIR`) })
  const { code, remarks } = await runVerb(db, ['restore', '--file', file], { environment: there })
  expect(code).toBe(0)
  expect(remarks.join()).toContain(`(the embedded PostgreSQL in ${elsewhere})`)
  const [url = ''] = (await runVerb(db, ['url'], { environment: there })).printed
  {
    await using restored = await openDatabase(url)
    await expectTruth({ emulator, database: { db: restored } })
  }
  const finalSync = await runVerb(sync, ['--json'], { environment: there })
  expect(JSON.parse(finalSync.printed.join('')).streams.visitors).toMatchObject({ inserted: 0, unchanged: 120 })
  await using restored = await openDatabase(url)
  expect(await expectKeptDays(restored)).toMatchObject({ changed: 0 })
})
