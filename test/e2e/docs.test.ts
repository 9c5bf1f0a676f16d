import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stopEmbedded } from '../../src/store/embedded.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { createPassableFolder } from '../helpers/operating-system.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const root = join(import.meta.dirname, '..', '..')
const files = ['README.md', 'docs/jobs.md', 'docs/operations.md']

/** Of each `sh` block of the docs, its commands without their comments. */
const commands = files.flatMap((file) => {
  const blocks = [...readFileSync(join(root, file), 'utf8').matchAll(/^```sh\n(.*?)^```/gms)]
  const lines = blocks.flatMap(([, block = '']) => block.split('\n'))
  return lines.map((line) => line.replace(/(^|\s+)# .*/, '')).filter((line) => line !== '')
})

/** What a test has no right to, or not every machine has; the syntax of these is checked alone. */
const elsewhere: readonly (readonly [RegExp, string])[] = [
  [/^docker /, 'an engine of containers, and an image'],
  [/^(pg_dump|pg_restore|psql) /, 'client tools that are as new as the server'],
  [/^useradd /, 'an account of this machine'],
  [/^npm /, 'packages may be installed; the demo is run by the line above'],
]

test('every command of the docs is what a shell reads', () => {
  const { status, stderr } = spawnSync('sh', ['-n', '-c', commands.join('\n')], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})

test('every command of the docs runs as it stands there, one after the other', async () => {
  await using emulator = await startEmulator({ channels: 2, viewers: 60 })
  await using server = await createTestDatabase({ isMigrated: false })
  const folder = await createPassableFolder('docs')
  const dataDirs = ['.livehouse', 'restored'].map((name) => join(folder, name))
  onTestFinished(async () => {
    for (const dataDir of dataDirs) await stopEmbedded(dataDir, new AbortController().signal)
    await rm(folder, { recursive: true, force: true })
  })
  const node = JSON.stringify(process.execPath)
  const launcher = JSON.stringify(join(root, 'bin', 'livehouse.cjs'))
  writeFileSync(join(folder, 'livehouse'), `#!/bin/sh\nexec ${node} ${launcher} "$@"\n`, { mode: 0o755 })
  // That npx finds what is installed is npm's own matter.
  writeFileSync(join(folder, 'npx'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 })
  const environment = {
    PATH: [folder, process.env.PATH].join(delimiter),
    HOME: folder,
    LIVEHOUSE_DATA_DIR: dataDirs[0],
    LIVEHOUSE_HTTP: '127.0.0.1:0',
  }
  const { password } = new URL(server.url)
  const own = server.url.replace(`:${password}@`, '@')

  const runs = commands.filter((line) => !elsewhere.some(([pattern]) => pattern.test(line)))
  expect(runs.length).toBeGreaterThan(7)
  for (const line of runs) {
    const here = line
      .replace('PGPASSWORD=…', `PGPASSWORD=${password}`)
      .replace(/postgres:[^']*db\.example[^']*/, own)
      // So that it is the command and not its shell that gets the signal.
      .replace(/^.* serve$/, 'exec $&')
    const child = spawn('sh', ['-c', here], { cwd: folder, env: environment, stdio: ['pipe', 'ignore', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let heard = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      heard += text
      // It would serve for ever.
      if (line.includes(' serve') && heard.includes('"serve.started"')) child.kill('SIGTERM')
    })
    // What livehouse init asks for.
    child.stdin.end(`${[emulator.baseUrl, emulator.apiToken, emulator.channelIds.join(), ''].join('\n')}\n`)
    const [code] = await once(child, 'close')
    expect([line, code], heard).toEqual([line, line.includes(' serve') ? 143 : 0])
  }
})
