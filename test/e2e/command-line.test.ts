import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { startEmulator } from '../../src/emulator/server.ts'
import { livehouse } from '../helpers/command-line.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { environmentOf } from '../helpers/run-verb.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'
import { startChild } from '../helpers/start-child.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

describe('mistyped input', () => {
  test('an unknown setting is reported with the nearest known name', async () => {
    const misspelt = { LIVEHOUSE_CHANELS: '9', LIVEHOUSE_FRUIT: 'pear', LIVEHOUSE_DATABASE_URL: 'pear' }
    const known = { LIVEHOUSE_CHANNELS_FILE: 'x', LIVEHOUSE_QUEUE_URL: 'x' }
    const { code, err } = await livehouse(['dictionary'], { ...misspelt, ...known })
    expect(err).toContain('LIVEHOUSE_CHANELS is not a setting; did you mean LIVEHOUSE_CHANNELS?')
    expect(err).toContain('LIVEHOUSE_DATABASE_URL is not a setting; did you mean DATABASE_URL?')
    expect([code, err]).toEqual([0, expect.stringContaining('LIVEHOUSE_FRUIT is not a setting')])
    expect(err).not.toMatch(/CHANNELS_FILE|pear|QUEUE_URL/)
  })

  test('a malformed --json flag is refused in JSON', async () => {
    const { code, out } = await livehouse(['status', '--json=yes'])
    expect(code).toBe(2)
    const message = '--json takes no value, see livehouse status --help'
    const errors = [{ stream: null, partition: null, code: 'usage.invalid', message }]
    expect(JSON.parse(out)).toMatchObject({ command: 'status', status: 'failed', run_id: null, streams: {}, errors })
  })

  test('a job file that does not load is reported with its line, in JavaScript too', async () => {
    const folder = createTemporaryFolder('jobs')
    const environment = { LIVEHOUSE_JOBS_DIR: folder, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
    for (const name of ['broken.ts', 'plain.js'])
      writeFileSync(join(folder, name), `export default {\n  streams: ['x'\n}`)
    const { code, error } = await startChild(['serve'], environment).ended
    expect(code).toBe(2)
    for (const name of ['broken.ts', 'plain.js']) expect(error).toContain(`${name}: it does not load at line 3: `)
  })

  test('a wrong LOG_LEVEL is reported together with every other wrong setting', async () => {
    const { code, err } = await livehouse(['sync'], { LOG_LEVEL: 'loud', LIVEHOUSE_TIMEZONE: 'Moon' })
    expect(code).toBe(2)
    for (const name of ['LOG_LEVEL is "loud"', 'LIVEHOUSE_TIMEZONE is "Moon"', 'DATABASE_URL is not set'])
      expect(err).toContain(name)
  })
})

test('a green night of 120 channels logs under 100 lines', async () => {
  await using database = await createTestDatabase()
  await using emulator = await startEmulator({ channels: 120, viewers: 1, days: 1 })
  const { code, err } = await livehouse(['sync', '--streams', 'visitors'], environmentOf(emulator, database))
  expect({ code, err: code === 0 ? '' : err }).toEqual({ code: 0, err: '' })
  expect(err.split('\n').length).toBeLessThan(100)
})

test('a run that fails is named in its JSON', async () => {
  await using database = await createTestDatabase()
  await using emulator = await startEmulator({ channels: 1, viewers: 1, days: 1 })
  await sql`alter table livehouse_ops.acceptances rename to away`.execute(database.db)
  const { code, out } = await livehouse(['sync', '--json'], environmentOf(emulator, database))
  expect([code, JSON.parse(out)]).toMatchObject([1, { run_id: '1', command: 'sync', status: 'failed' }])
})

test('the help of status names the fields of its JSON', async () => {
  const { out } = await livehouse(['status', '--help'])
  const fields =
    'time_zone streams runs quarantine gaps gap_count shortfalls shortfall_count gone_channels acceptances v1_calls stale'
  for (const field of fields.split(' ')) expect(out).toContain(`"${field}"`)
})

test.each([
  [undefined, 'errcode 1000 without an access_token,'],
  ['to\nken', 'errcode 1000 without an access_token that a header can carry,'],
])('success with the token %j is trouble of the token service, not a wrong address', async (token, message) => {
  await using service = await startScriptedService(() => ({ json: { errcode: 1000, access_token: token } }))
  const { code, err } = await livehouse(['api', 'token'], {
    LIVEHOUSE_BASE_URL: service.url,
    LIVEHOUSE_AUTH_URL: service.url,
    LIVEHOUSE_APP_ID: 'app-1',
    LIVEHOUSE_APP_SECRET: 'secret-of-the-app',
  })
  expect(code).toBe(1)
  expect(err).toContain(message)
  expect(err).not.toContain('LIVEHOUSE_AUTH_URL')
})

test('a database password is shown nowhere, even if it is a query parameter of the URL', async () => {
  const environment = { LIVEHOUSE_BASE_URL: 'https://s-query/1', LIVEHOUSE_TIMEZONE: 's-query/1' }
  for (const [name, url] of [
    ['DATABASE_URL', 'postgres://127.0.0.1:1/d?user=me&password=s-query%2F1'],
    ['LIVEHOUSE_QUEUE_URL', 'postgresql://me@127.0.0.1:1/d?password=s-query/1&sslmode=disable'],
  ] as const) {
    const { code, out, err } = await livehouse(['sync', '--json'], { ...environment, [name]: url })
    expect(code).toBe(2)
    expect(err).toContain('LIVEHOUSE_TIMEZONE is "[redacted]"')
    expect(out + err).not.toContain('s-query/1')
  }
})

test('a token that the service repeats in an error is neither printed nor stored', async () => {
  await using database = await createTestDatabase()
  await using service = await startScriptedService(({ headers }) => ({
    status: 400,
    json: { errors: { code: 400001, message: `bad ${headers.authorization?.slice('Bearer '.length)}` } },
  }))
  const { code, out, err } = await livehouse(['sync', '--streams', 'visitors', '--json'], {
    LIVEHOUSE_BASE_URL: service.url,
    LIVEHOUSE_API_TOKEN: 'fixed-bearer-0123456789',
    LIVEHOUSE_CHANNELS: '9',
    DATABASE_URL: database.url,
  })
  expect(code).toBe(3)
  const { rows } = await sql`select to_jsonb(r) as run from livehouse_ops.runs r`.execute(database.db)
  const storedRuns = JSON.stringify(rows)
  expect(storedRuns).toContain('bad [redacted]')
  expect(out + err + storedRuns).not.toContain('fixed-bearer')
})

// oxlint-disable-next-line no-control-regex
const ESCAPES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/

test('text from a service brings no escape sequence and no phone number into output or logs', async () => {
  const evil = '\u001b]0;x\u0007\u009b2J\u202e 13800138000'
  await using service = await startScriptedService(({ path }) => {
    if (!path.endsWith('getQuestionList')) return { status: 500, json: { errors: { code: 500001, message: evil } } }
    const items = [evil, 'q1'].map((id) => ({ question_id: id, name: evil, status: evil, [evil]: 1 }))
    return { json: { errcode: 1000, msg: evil, page_index: 1, size: 100, total: 2, question_list: items } }
  })
  await using database = await createTestDatabase()
  await using emulator = await startEmulator({ channels: 1, viewers: 1 })
  const own = environmentOf(emulator, database)
  const sync = ['sync', '--streams', 'questionnaires,managers', '--json']
  const texts = await Array.fromAsync([sync, ['status'], ['ledger', 'show'], ['quarantine']], async (argv) => {
    const { out, err } = await livehouse(argv, { ...own, LIVEHOUSE_BASE_URL: service.url, LOG_LEVEL: 'debug' })
    return out + err
  })
  expect(texts[0]).toContain('500')
  for (const text of texts) {
    expect(text).not.toMatch(ESCAPES)
    expect(text).not.toContain('13800138000')
  }
})
