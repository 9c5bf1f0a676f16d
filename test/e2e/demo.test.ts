import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { startEmbedded, stopEmbedded } from '../../src/store/embedded.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { streams } from '../../src/streams/registry.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { createPassableFolder } from '../helpers/operating-system.ts'

const launcher = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
const { signal } = new AbortController()
const endWithParent = fileURLToPath(new URL('../helpers/end-with-parent.ts', import.meta.url))
let dataDir = ''
let guard: ChildProcess | undefined

beforeAll(async () => {
  dataDir = await createPassableFolder('demo')
  // The demo leaves its server running on purpose; a test run that is killed must not.
  guard = spawn(process.execPath, [endWithParent, dataDir], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  guard.unref()
  return async () => {
    await stopEmbedded(dataDir, signal)
    await rm(dataDir, { recursive: true, force: true })
    guard?.stdin?.end()
  }
})

function startDemo(...args: readonly string[]) {
  const child = spawn(process.execPath, [launcher, 'demo', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      LIVEHOUSE_DATA_DIR: dataDir,
      LIVEHOUSE_BASE_URL: 'https://service.invalid',
      LIVEHOUSE_API_TOKEN: 'not-for-the-demo',
      LIVEHOUSE_CHANNELS: '42',
      LIVEHOUSE_MAX_CALLS_PER_SECOND: 'fast',
      DATABASE_URL: 'postgres://nobody@database.invalid/none',
    },
  })
  const text = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text.out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.err += chunk))
  const ended = once(child, 'close').then(([code]: unknown[]) => ({ code, ...text }))
  return { child, text, ended }
}

async function expectDemoTruth(): Promise<void> {
  await using db = await openDatabase((await startEmbedded(dataDir, systemClock, signal)).url('livehouse_demo'))
  const runs = await db.selectFrom('livehouse_ops.runs').select('settings').execute()
  expect(runs, 'each demo starts from an empty database').toHaveLength(1)
  const { seed, channels, viewers, days, ends_at: endsAt, time_zone: timeZone } = Object(runs[0]?.settings)
  expect(timeZone).toBe('Asia/Shanghai')
  const clock = { now: () => Date.parse(`${endsAt.replace(' ', 'T')}+08:00`), sleep: async () => {} }
  await using emulator = await startEmulator({ seed, channels, viewers, days, timeZone, clock })
  await expectTruth({ emulator, database: { db } })
}

test('Ctrl-C ends the demo and its emulator with 130, and says that the PostgreSQL keeps running', async () => {
  const { child, text, ended } = startDemo('--viewers', '1000')
  while (!text.err.includes('emulator ') && child.exitCode === null)
    await Promise.race([once(child.stderr, 'data'), ended])
  child.kill('SIGINT')
  const { code, err, out } = await ended
  expect({ code, out }).toEqual({ code: 130, out: '' })
  expect(err).toContain('keeps running; livehouse db stop stops it')
  const [, emulatorUrl = ''] = /emulator +(\S+)/.exec(err) ?? []
  await expect(fetch(emulatorUrl)).rejects.toThrow('fetch failed')
})

test('each demo after an interrupted one starts with an empty database and matches its emulator', async () => {
  const small = ['--channels', '2', '--viewers', '50']
  const first = await startDemo('--json', ...small).ended
  await expectDemoTruth()
  const second = await startDemo(...small).ended
  for (const { code, err } of [first, second]) expect(code, err).toBe(0)
  await expectDemoTruth()

  const outcome = JSON.parse(first.out)
  expect(outcome).toMatchObject({ command: 'demo', status: 'ok', errors: [] })
  expect(Object.keys(outcome.streams)).toEqual(streams.map(({ name }) => name))

  const { out } = second
  for (const { table } of streams) expect(out).toMatch(new RegExp(`livehouse\\.${table} +([\\d,]+) +\\1  ✓`))
  expect(out).not.toContain('✗')
  expect(out).not.toContain('(no rows)')
  expect(out).toContain('livehouse db psql --database livehouse_demo')
})
