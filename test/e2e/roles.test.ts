import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { biViews } from '../../src/bi/registry.ts'
import { audit } from '../../src/cli/audit.ts'
import { backfill } from '../../src/cli/backfill.ts'
import type { Command } from '../../src/cli/command.ts'
import { doctor } from '../../src/cli/doctor.ts'
import { forms } from '../../src/cli/forms.ts'
import { ledger } from '../../src/cli/ledger.ts'
import { migrate } from '../../src/cli/migrate.ts'
import { quarantine } from '../../src/cli/quarantine.ts'
import { status } from '../../src/cli/status.ts'
import { sync } from '../../src/cli/sync.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { FIXED_NOW } from '../helpers/emulated-service.ts'
import { createFakeClock } from '../helpers/fake-clock.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase, databaseUrl, onServer } from '../helpers/postgres.ts'
import { credentialsOf, environmentOf, runVerb } from '../helpers/run-verb.ts'
import { startChild } from '../helpers/start-child.ts'
import { createJobsFolder } from '../helpers/temporary-folder.ts'
import { createTestRole } from '../helpers/test-role.ts'

// Roles with exactly the rights that docs/examples/roles gives, under names of this run.
const names = { livehouse: unique('owner'), anna: unique('anna'), paul: unique('paul') }
const password = randomUUID()
const urlOf = (login: keyof typeof names) => databaseUrl(names.livehouse, { name: names[login], password })
const clock = createFakeClock({ startMs: FIXED_NOW, isAutomatic: true })
const emulator = ofFile(() => startEmulator({ channels: 2, viewers: 60, clock }))

beforeAll(async () => {
  for (const [file, login] of [
    ['loader.sql', 'livehouse'],
    ['analyst.sql', 'anna'],
    ['pii.sql', 'paul'],
  ] as const) {
    const text = await readFile(join(import.meta.dirname, '../../docs/examples/roles', file), 'utf8')
    const renamed = text
      .replaceAll(/^--.*$/gm, '')
      .replaceAll(/\blivehouse\b/g, names.livehouse)
      .replaceAll(/\banna\b/g, names.anna)
      .replaceAll(/\bpaul\b/g, names.paul)
    await onServer(async (admin) => {
      // One by one, as psql does: create database cannot run together with other statements.
      for (const statement of renamed.split(/;$/m)) if (statement.trim() !== '') await sql.raw(statement).execute(admin)
      await sql`alter role ${sql.id(names[login])} password ${sql.lit(password)}`.execute(admin)
    })
  }
})

afterAll(async () => {
  await onServer(async (admin) => {
    await sql`drop database ${sql.id(names.livehouse)} with (force)`.execute(admin)
    for (const name of Object.values(names)) await sql`drop role ${sql.id(name)}`.execute(admin)
  })
})

function unique(name: string): string {
  return `livehouse_test_${name}_${randomUUID().slice(0, 8)}`
}

const settingsOfOwner = () => ({
  ...environmentOf(emulator, { url: urlOf('livehouse') }),
  ...credentialsOf(emulator),
  LIVEHOUSE_API_TOKEN: '',
})

async function run(verb: Command, argv: readonly string[], environment: Record<string, string> = settingsOfOwner()) {
  const { code, printed, error } = await runVerb(verb, argv, { environment, clock })
  return { code, printed: printed.join('\n'), error }
}

async function expectGreen(...runs: readonly (readonly [Command, ...(readonly string[])])[]): Promise<void> {
  for (const [verb, ...argv] of runs) expect(await run(verb, argv)).toMatchObject({ code: 0, error: undefined })
}

test("the owner's rights are enough for everything that livehouse does", async () => {
  await expectGreen([migrate, 'up'], [sync], [sync], [status], [audit])
  await expectGreen([ledger, 'forget', '--streams', 'gifts', '--from', '2026-06-01', '--to', '2026-06-02'])
  await expectGreen([backfill, '--from', '2026-06-01', '--to', '2026-06-03'], [quarantine, 'retry'], [doctor])
  await using db = await openDatabase(urlOf('livehouse'))
  // A run of long ago, which the end of the next one deletes.
  await sql`insert into livehouse_ops.runs (command, status, settings, started_at, finished_at)
    values ('sync', 'ok', '{}', now() - interval '3 years', now() - interval '3 years')`.execute(db)
  const { rows } = await sql<{ id: string }>`select question_id as id from livehouse.questionnaires limit 1`.execute(db)
  await expectGreen([forms, 'publish', rows[0]?.id ?? ''], [sync])
  const oldRuns = await sql`select from livehouse_ops.runs where started_at < now() - interval '2 years'`.execute(db)
  expect(oldRuns.rows).toEqual([])
  const extraRights = sql`rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls`
  const rights = await sql`select ${extraRights} as "hasMore" from pg_roles where rolname = current_user`.execute(db)
  expect(rights.rows).toEqual([{ hasMore: false }])
})

test('two connections are enough, even to renew the token', async () => {
  const limit = (connections: number) =>
    onServer(async (admin) => {
      await sql`alter role ${sql.id(names.livehouse)} connection limit ${sql.lit(connections)}`.execute(admin)
    })
  await limit(2)
  onTestFinished(async () => await limit(-1))
  emulator.credentials.revokeTokens()
  await expectGreen([backfill, '--from', '2026-01-01', '--to', '2026-07-01'], [sync], [audit], [doctor])
})

test('a backup needs only the roles that loader.sql creates on a new server', async () => {
  await using db = await openDatabase(urlOf('livehouse'))
  const { rows } = await sql<{ name: string }>`
    select distinct rolname as name
    from pg_shdepend join pg_roles r on r.oid = refobjid join pg_database d on d.oid = dbid
    where refclassid = 'pg_authid'::regclass and datname = current_database()`.execute(db)
  const created = ['livehouse_analyst', 'livehouse_pii', names.livehouse]
  expect(rows.map(({ name }) => name).toSorted()).toEqual(created.toSorted())
})

test.each([
  ['anna', 'masked', /^\d{3}\*{4}\d{4}$/],
  ['paul', 'in clear', /^\d{11}$/],
] as const)('%s reads every view, phones %s, and nothing else', async (login, _, phone) => {
  await using db = await openDatabase(urlOf(login))
  for (const { name } of biViews) await sql`select * from livehouse_bi.${sql.id(name)} limit 3`.execute(db)
  const { rows } = await sql<{ phone: string }>`
    select phone from livehouse_bi.dim_viewer where phone is not null`.execute(db)
  expect(rows.length).toBeGreaterThan(0)
  for (const row of rows) expect(row.phone).toMatch(phone)
  for (const statement of [
    'select from livehouse.visitors',
    'select from livehouse_ops.slices',
    'set transaction read write; create table livehouse_bi.mine ()',
    'set transaction read write; create table public.mine ()',
    'set transaction read write; create temporary table mine ()',
    'set transaction read write; delete from livehouse_bi.dim_channel',
  ]) {
    const attempt = db.transaction().execute(async (transaction) => await sql.raw(statement).execute(transaction))
    await expect(attempt).rejects.toThrow(/permission denied/)
  }
})

test('a login that owns nothing can serve after a DBA has run the printed SQL and what doctor asks for', async () => {
  await using role = await createTestRole()
  await using database = await createTestDatabase({ isMigrated: false })
  const dba = async (script: string) => void (await sql.raw(script).execute(database.db))
  const folder = createJobsFolder({ nightly: `export default { cron: '0 0 1 1 *' }` })
  const settings = { LIVEHOUSE_JOBS_DIR: folder, LIVEHOUSE_HTTP: 'off', LOG_LEVEL: 'debug' }
  const environment = { ...environmentOf(emulator, { url: databaseUrl(database.name, role) }), ...settings }
  await dba((await run(migrate, ['sql'], environment)).printed)
  for (const schema of ['livehouse', 'livehouse_ops'])
    await dba(`grant usage on schema ${schema} to ${role.name};
      grant select, insert, update, delete on all tables in schema ${schema} to ${role.name}`)

  const grant = / run: (GRANT .* pgboss TO .*;)/.exec((await run(doctor, [], environment)).printed)?.[1]
  await dba(grant ?? 'doctor asked for nothing')
  expect(await run(doctor, [], environment)).toMatchObject({ code: 0 })
  expect(await run(migrate, ['sql'], environment)).toMatchObject({ printed: '-- nothing is pending' })

  await dba(`insert into livehouse_ops.jobs (job, cron, time_zone, is_enabled, since)
    values ('nightly', '0 0 1 1 *', 'Asia/Shanghai', true, '2025-12-01')`)
  const serve = startChild(['serve'], environment)
  await serve.untilOutput('"job.ended"')
  serve.process.kill('SIGTERM')
  const { code, error } = await serve.ended
  expect(code).toBe(143)
  expect(error).not.toContain('permission denied')
  const runs = await database.db.selectFrom('livehouse_ops.runs').select(['command', 'status']).execute()
  expect(runs).toEqual([{ command: 'run nightly', status: 'ok' }])
})

test('a login with neither role is refused', async () => {
  await onServer(async (admin) => void (await sql`revoke livehouse_pii from ${sql.id(names.paul)}`.execute(admin)))
  await expect(openDatabase(urlOf('paul'))).rejects.toMatchObject({ details: { sqlState: '42501' } })
})
