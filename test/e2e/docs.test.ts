import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { readEnvironment } from '../../src/config.ts'
import { systemClock } from '../../src/core/clock.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { livehouse } from '../helpers/command-line.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { createPassableFolder, giveToServer, isRoot } from '../helpers/operating-system.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'
import { stopAtEnd } from '../helpers/temporary-folder.ts'

const root = join(import.meta.dirname, '..', '..')
const files = ['README.md', 'docs/jobs.md', 'docs/operations.md']

/** The commands of every `sh` block of the docs, without their comments. */
const commands = files.flatMap((file) => {
  const blocks = [...readFileSync(join(root, file), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)]
  const lines = blocks.flatMap(([, block = '']) => block.split('\n'))
  return lines.map((line) => line.replace(/(^|\s+)# .*/, '')).filter((line) => line !== '')
})

/** Complete commands within sentences; those with `…` are for the reader to complete. */
const mentioned = files.flatMap((file) => {
  const prose = readFileSync(join(root, file), 'utf8').replaceAll(/^```.*?^```/gms, '')
  return [...prose.matchAll(/`(?:15 2 .*? && )?(?:npx )?(livehouse [^`…]*)`/g)].map(([, line = '']) => line)
})
/** Names of commands whose arguments only the reader knows; each has tests of its own. */
const incomplete = new Set(['livehouse accept', 'livehouse backfill', 'livehouse ledger forget'])

/** Commands that a test may not run, or not on every machine, and why: only their syntax is checked. */
const syntaxOnly: readonly (readonly [RegExp, string])[] = [
  [/^docker /, 'needs a container engine and an image'],
  [/^(pg_dump|pg_restore|psql) /, 'needs client tools as new as the server: the last test runs it where both exist'],
  [/^useradd /, 'creates an account on this machine'],
  [/^npm /, 'may install packages; the line above runs the demo'],
]

test('a shell can parse every command of the docs', () => {
  const { status, stderr } = spawnSync('sh', ['-n', '-c', commands.join('\n')], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})

test('every command of the docs runs as written, one after the other', async () => {
  await using emulator = await startEmulator({ channels: 1, viewers: 20 })
  await using server = await createTestDatabase({ isMigrated: false })
  const folder = await createPassableFolder('docs')
  const dataDirs = ['.livehouse', 'restored'].map((name) => stopAtEnd(join(folder, name)))
  const node = JSON.stringify(process.execPath)
  const launcher = JSON.stringify(join(root, 'bin', 'livehouse.cjs'))
  writeFileSync(join(folder, 'livehouse'), `#!/bin/sh\nexec ${node} ${launcher} "$@"\n`, { mode: 0o755 })
  // This npx only runs what follows: finding installed packages is up to npm.
  writeFileSync(join(folder, 'npx'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 })
  const PATH = [folder, process.env.PATH].join(delimiter)
  const environment = { PATH, HOME: folder, LIVEHOUSE_DATA_DIR: dataDirs[0], LIVEHOUSE_HTTP: '127.0.0.1:0' }
  const { password } = new URL(server.url)
  const own = server.url.replace(`:${password}@`, '@')

  const runHere = async (line: string) =>
    await livehouse(line.split(' ').slice(1), readEnvironment(environment, folder))
  const runInShell = async (line: string, isEndless: boolean) => {
    const child = spawn('sh', ['-c', line], { cwd: folder, env: environment, stdio: ['pipe', 'ignore', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
      // It runs until a signal. One is enough: a second one would end it without its exit code.
      if (isEndless && !child.killed && /"(serve|worker).started"|Ctrl-C ends it/.test(output)) child.kill('SIGTERM')
    })
    // The answers to what livehouse init asks for.
    child.stdin.end(`${[emulator.baseUrl, emulator.apiToken, emulator.channelIds.join(), ''].join('\n')}\n`)
    const [code]: unknown[] = await once(child, 'close')
    return { code, err: output }
  }

  const blocks = commands.filter((line) => !syntaxOnly.some(([pattern]) => pattern.test(line)))
  expect(blocks.length).toBeGreaterThan(7)
  const others = mentioned.filter((each) => !incomplete.has(each) && !blocks.some((line) => line.endsWith(each)))
  expect(others.length).toBeGreaterThan(15)
  for (const line of new Set([...blocks, ...others])) {
    const isEndless = / (serve|worker|emulate)$/.test(line)
    const runnable = line
      .replace(/livehouse demo$/, '$& --channels 1 --viewers 20') // scripts/check-package runs it in full
      .replace('PGPASSWORD=…', `PGPASSWORD=${password}`)
      .replace(/postgres:[^']*db\.example[^']*/, own)
      // With exec, the command and not its shell gets the signal.
      .replace(/^.* (serve|worker|emulate)$/, 'exec $&')
    // Commands in sentences run in this process, unless they need a shell, a signal or a terminal.
    const isHere = !blocks.includes(line) && !isEndless && /^livehouse (?!.* psql)[\w .-]+$/.test(line)
    const { code, err } = isHere ? await runHere(line) : await runInShell(runnable, isEndless)
    expect([line, code], err).toEqual([line, isEndless ? 143 : 0])
  }
})

/** Where Debian and its derivatives install PostgreSQL with its client tools. */
const packaged = '/usr/lib/postgresql'
const [newest] = existsSync(packaged) ? readdirSync(packaged).toSorted((a, b) => Number(b) - Number(a)) : []
if (newest === undefined)
  process.stdout.write(`no PostgreSQL in ${packaged}: the test of backup and restore is skipped\n`)

/** Starts an empty cluster in a folder of its own below `folder`. @returns its URL, and a shell of its superuser */
async function startCluster(folder: string, name: string) {
  const place = join(folder, name)
  mkdirSync(place)
  await giveToServer(place)
  const bin = join(packaged, newest ?? '', 'bin')
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = Object(server.address())
  await new Promise((closed) => server.close(closed))
  const account = isRoot ? { uid: 65_534, gid: 65_534 } : {}
  const run = (program: string, args: readonly string[]) => {
    const options = { ...account, cwd: place, stdio: 'ignore' } as const
    expect([program, spawnSync(join(bin, program), ['-D', 'data', ...args], options).status]).toEqual([program, 0])
  }
  run('initdb', ['--username=postgres', '--auth-local=trust', '--auth-host=scram-sha-256', '--encoding=UTF8'])
  run('pg_ctl', ['start', '--wait', '--log=log', '-o', `-p ${port} -k ${place} -c listen_addresses=127.0.0.1`])
  onTestFinished(() => run('pg_ctl', ['stop', '--mode=immediate']))
  const url = `postgres://livehouse:a-password@127.0.0.1:${port}/livehouse`
  const PATH = [bin, process.env.PATH].join(delimiter)
  const env = { PATH, PGHOST: place, PGPORT: String(port), PGUSER: 'postgres', DATABASE_URL: url }
  /** Runs a line of the docs, which may ask for the password twice. */
  const runLine = (line: string) => {
    // Without a terminal, psql asks on standard input.
    const options = { cwd: folder, env, input: 'a-password\na-password\n', encoding: 'utf8' } as const
    const { status, stderr } = spawnSync('setsid', ['--wait', 'sh', '-c', line], options)
    expect([line, status], stderr).toEqual([line, 0])
  }
  return { url, runLine }
}

test.skipIf(newest === undefined)('the backup of the docs is restored on its server and on an empty one', async () => {
  const folder = await createPassableFolder('backup')
  symlinkSync(join(root, 'docs'), join(folder, 'docs'))
  const lines = commands.filter((line) => /^(pg_dump|pg_restore|psql) /.test(line))
  const asSuperuser = lines.filter((line) => line.includes('--dbname postgres'))
  const [dump = '', drop = '', restore = '', ...others] = lines
  expect(dump).toContain('pg_dump')
  expect(drop).toContain('drop schema')
  expect(others).toEqual([...asSuperuser, restore])
  await using emulator = await startEmulator({ channels: 1, viewers: 20 })
  const [old, fresh] = [await startCluster(folder, 'old'), await startCluster(folder, 'fresh')]
  for (const line of asSuperuser) old.runLine(line)
  const runSync = async (url: string) =>
    await runVerb(sync, ['--json'], { environment: environmentOf(emulator, { url }), clock: systemClock })
  expect(await runSync(old.url)).toMatchObject({ code: 0 })
  for (const line of [dump, drop, restore]) old.runLine(line)
  for (const line of others) fresh.runLine(line)
  for (const { url } of [old, fresh]) {
    await using db = await openDatabase(url)
    await expectTruth({ emulator, database: { db } })
    const { code, printed } = await runSync(url)
    expect([code, JSON.parse(printed.join('')).streams.visitors.inserted]).toEqual([0, 0])
  }
})
