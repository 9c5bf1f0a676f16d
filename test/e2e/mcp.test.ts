import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { biViews } from '../../src/bi/registry.ts'
import { mcp } from '../../src/cli/mcp.ts'
import { migrate } from '../../src/cli/migrate.ts'
import { livehouse } from '../helpers/command-line.ts'
import { ofFile } from '../helpers/of-file.ts'
import { openAs } from '../helpers/open-as.ts'
import { openAssistant } from '../helpers/open-assistant.ts'
import { createPassableFolder } from '../helpers/operating-system.ts'
import { databaseUrl, onServer } from '../helpers/postgres.ts'
import { runVerb } from '../helpers/run-verb.ts'
import { startStallingProxy } from '../helpers/stalling-proxy.ts'
import { startChild } from '../helpers/start-child.ts'
import { startFilled } from '../helpers/start-filled.ts'
import { stopAtEnd } from '../helpers/temporary-folder.ts'
import { createTestRole } from '../helpers/test-role.ts'

const account = ofFile(startFilled)
const user = ofFile(() => openAs('livehouse_analyst', account.database))
const assistant = ofFile(() => openAssistant({ DATABASE_URL: user.url }, ['--max-rows', '3', '--timeout', '5']))

const ask = async (tool: string, input = {}) => JSON.parse((await assistant.call(tool, input)).text)

test('an assistant finds the tools, every view with its columns in both languages, and the measures', async () => {
  const { tools } = await assistant.client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['describe_views', 'read_document', 'query', 'completeness'])
  expect(assistant.client.getInstructions()).toMatch(/Personal data are masked.+never instructions/s)
  const all = await ask('describe_views')
  expect(all.map(({ name }: { name: string }) => name)).toEqual(biViews.map(({ name }) => name))
  const [gift] = await ask('describe_views', { views: ['livehouse_bi.fct_gift'] })
  const words = { en: expect.stringMatching(/phone/i), zh: expect.stringMatching(/\p{Script=Han}/u) }
  expect(gift.columns.phone).toEqual({ type: 'text', personal: 'phone', words })
  expect(gift).not.toHaveProperty('from')
  const unknown = await assistant.call('describe_views', { views: ['gifts'] })
  expect(unknown).toEqual({ isError: true, text: expect.stringContaining('there is no view "gifts"; there are dim_') })
  expect((await assistant.call('read_document', { document: 'metrics' })).text).toContain('# Measures')
})

test('an answer has exact values and says how complete the data are', async () => {
  const complete = await ask('query', {
    sql: `select count(*), 12345678901234.50::numeric as money, timestamptz '2026-11-22 08:00+00' as instant,
      true as yes, date '2026-11-22' as day, 7 as small, null as nothing, current_user, session_user from dim_viewer -- all`,
  })
  expect(complete.columns.slice(0, 3)).toEqual(['count', 'money', 'instant'])
  const viewers = account.emulator.truth().visitors.length
  const values = [String(viewers), '12345678901234.50', '2026-11-22T16:00:00+08:00', true, '2026-11-22', 7, null]
  expect(complete.rows).toEqual([[...values, 'livehouse_analyst', user.name]])
  const visitors = { stream: 'visitors', is_complete: true, parts: 2, unproven: null }
  expect(complete.completeness).toContainEqual(expect.objectContaining(visitors))
  await sql`insert into livehouse.channels (channel_id, run_id) values ('unread', 1)`.execute(account.database.db)
  const streams: readonly { stream: string; last_read_at: string }[] = await ask('completeness')
  const partial = streams.find(({ stream }) => stream === 'visitors')
  expect(partial).toMatchObject({ is_complete: false, unproven: 'channel unread: never read', complete_through: null })
  expect(partial?.last_read_at).toMatch(/^2\d{3}-\d\d-\d\dT.*\+08:00$/)
  // A channel that is no longer read does not make a stream incomplete.
  const retire = `update livehouse.channels set state = 'retired' where channel_id = 'unread'`
  await sql.raw(retire).execute(account.database.db)
  expect(await ask('completeness')).toContainEqual(expect.objectContaining({ stream: 'visitors', is_complete: true }))
})

test('rows, bytes and time are bounded, and an error of Postgres names the place in the query', async () => {
  const three = [[1], [2], [3]]
  expect(await ask('query', { sql: 'select generate_series(1, 1000)' })).toMatchObject({ rows: three, isCut: true })
  expect(await ask('query', { sql: 'select generate_series(1, 3);' })).toMatchObject({ rows: three, isCut: false })
  for (const [query, message] of [
    [`select repeat('x', 5000000)`, /more than 1048576 bytes/],
    [`select set_config('statement_timeout', '0', false), pg_sleep(600)`, /statement timeout \(57014\)/],
    ['select channel, 1 from dim_viewer', /column "channel" does not exist \(42703\) at character 8\b/],
  ] as const) {
    const answer = await assistant.call('query', { sql: query })
    expect(answer).toEqual({ isError: true, text: expect.stringMatching(message) })
  }
  expect(await assistant.rows('select 1')).toEqual([[1]])
})

test('an owner gets a temporary login for each query, which leaves nothing behind and shows no password', async () => {
  await onServer(async (admin) => {
    await sql`drop role if exists livehouse_mcp_0123456789abcdef`.execute(admin)
    await sql`create role livehouse_mcp_0123456789abcdef valid until '2020-01-01'`.execute(admin)
  })
  const { hostname: host, port, pathname, username, password, searchParams } = new URL(account.database.url)
  const parameters = { host, port, user: decodeURIComponent(username), password: decodeURIComponent(password) }
  const urlWith = (changed: Readonly<Record<string, string>>) => {
    for (const [parameter, value] of Object.entries(changed)) searchParams.set(parameter, value)
    return `postgresql://${pathname}?${searchParams.toString()}`
  }
  await using owner = await openAssistant({ DATABASE_URL: urlWith(parameters) })
  const [[name, ...rest] = []] = await owner.rows('select session_user, current_user')
  expect(name).toMatch(/^livehouse_mcp_[0-9a-f]{16}$/)
  expect(rest).toEqual(['livehouse_analyst'])
  await expect(owner.rows('select nothing')).rejects.toThrow('42703')
  const { rows } = await sql`select rolname from pg_roles where rolname in (${name}, 'livehouse_mcp_0123456789abcdef')
    or (rolname like 'livehouse_mcp_%' and rolvaliduntil < now())`.execute(account.database.db)
  expect(rows).toEqual([])
  const nobodyThere = { DATABASE_URL: urlWith({ port: '1', password: 'never-shown' }) }
  const error = expect.stringMatching(/^(?!.*never-shown).*:1\/livehouse_test_\w+ cannot be reached/s)
  expect(await livehouse(['mcp'], nobodyThere)).toMatchObject({ code: 1, err: error })
})

async function readAsleep(): Promise<readonly string[]> {
  const { rows } = await sql<{ login: string }>`select usename as login from pg_stat_activity
    where datname = current_database() and wait_event = 'PgSleep'`.execute(account.database.db)
  return rows.map(({ login }) => login)
}

test('a statement that the client cancels ends on the server too, and the next one does not wait for it', async () => {
  for (const { url } of [user, account.database]) {
    await using patient = await openAssistant({ DATABASE_URL: url }, ['--timeout', '600'])
    const givenUp = new AbortController()
    const params = { name: 'query', arguments: { sql: 'select pg_sleep(600)' } }
    const end = patient.client.callTool(params, givenUp).catch(String)
    await expect.poll(readAsleep, { timeout: 60_000 }).toHaveLength(1)
    const [login] = await readAsleep()
    givenUp.abort(new Error('given up'))
    expect(await end).toContain('given up')
    expect(await patient.rows('select 1')).toEqual([[1]])
    await expect.poll(readAsleep, { timeout: 60_000 }).toEqual([])
    const { rows } = await sql`
      select from pg_roles where rolname = ${login} and rolname <> ${user.name}`.execute(account.database.db)
    expect(rows).toEqual([])
  }
})

test('a query waits for a lost database no longer than its statements may take', async () => {
  await using proxy = await startStallingProxy(user.url)
  await using cutOff = await openAssistant({ DATABASE_URL: proxy.url }, ['--timeout', '2'])
  const answer = cutOff.call('query', { sql: 'select pg_sleep(600)' })
  await expect.poll(readAsleep, { timeout: 60_000 }).toHaveLength(1)
  proxy.stall()
  expect((await answer).text).toContain('cannot be reached: no answer within 9 s')
  proxy.reconnect()
  expect(await cutOff.rows('select 1')).toEqual([[1]])
})

test('a login that is not an analyst, or has further rights, is refused before anything is served', async () => {
  await using stranger = await createTestRole()
  const url = databaseUrl(account.database.name, stranger)
  const change = async (statement: string) =>
    await sql.raw(statement.replace('STRANGER', stranger.name)).execute(account.database.db)
  const isRefused = {
    code: 1,
    err: expect.stringMatching(/login \S+ is not only an analyst\. Give DATABASE_URL a login that is granted/),
  }
  expect(await livehouse(['mcp'], { DATABASE_URL: url })).toMatchObject(isRefused)
  await change('grant livehouse_analyst to STRANGER')
  for (const [give, take] of [
    ['grant livehouse_pii to STRANGER', 'revoke livehouse_pii from STRANGER'],
    ['grant usage on schema livehouse to STRANGER', 'revoke usage on schema livehouse from STRANGER'],
    ['alter role STRANGER createdb', 'alter role STRANGER nocreatedb'],
  ] as const) {
    await change(give)
    expect(await livehouse(['mcp'], { DATABASE_URL: url }), give).toMatchObject(isRefused)
    await change(take)
  }
  // Its standard input is empty, so that it ends with 0 where it is not refused.
  expect(await startChild(['mcp'], { DATABASE_URL: url }).ended).toMatchObject({ code: 0 })
  const { problems } = await runVerb(mcp, ['--max-rows', '0', '--timeout', 'long'], { environment: {} })
  expect(problems).toEqual([
    '--max-rows is "0"; it should be a whole number from 1 to 10000',
    '--timeout is "long"; it should be a whole number from 1 to 3600',
  ])
})

test('standard output carries only the protocol, and the end of the input ends the server with 0', async () => {
  const launcher = join(import.meta.dirname, '../../bin/livehouse.cjs')
  const child = spawn(process.execPath, [launcher, 'mcp'], { env: { DATABASE_URL: user.url } })
  const errorText = textOf(child.stderr)
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  const [first] = await once(child.stdout, 'data')
  expect(JSON.parse(String(first))).toMatchObject({ id: 1, result: { serverInfo: { name: 'livehouse' } } })
  child.stdin.end()
  const [[code], rest] = await Promise.all([once(child, 'close'), textOf(child.stdout)])
  expect([code, rest]).toEqual([0, ''])
  expect(await errorText).toMatch(/^database: [^\n]+\n$/)
  expect(await errorText).not.toContain(new URL(user.url).password)
})

test('the embedded PostgreSQL is served too', async () => {
  const dataDir = stopAtEnd(await createPassableFolder('mcp'))
  const environment = { DATABASE_URL: 'embedded', LIVEHOUSE_DATA_DIR: dataDir }
  expect(await runVerb(migrate, ['up'], { environment })).toMatchObject({ code: 0 })
  await using embedded = await openAssistant(environment)
  expect(await embedded.rows('select count(*), current_user from dim_viewer')).toEqual([['0', 'livehouse_analyst']])
})
