import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const testVerbs = fileURLToPath(new URL('helpers/main-with-test-verbs.ts', import.meta.url))
// Without a type in package.json only the launcher tells Node that .ts files are modules.
const args = ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', testVerbs]

function start(verb: string) {
  const child = spawn(process.execPath, [...args, verb], { stdio: ['ignore', 'pipe', 'pipe'] })
  const text = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text.out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.err += chunk))
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => ({ code, signal, ...text }))
  return { child, ended }
}

test('a signal ends the program in an orderly way', async () => {
  const { child, ended } = start('obedient')
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  const end = await ended
  expect(end).toMatchObject({ code: 130, signal: null, out: 'started\n' })
  expect(end.err).toContain('SIGINT: finishing what is in flight, 10 s at most')
  expect(end.err).toContain('livehouse obedient: interrupted by SIGINT')
})

test('a signal that comes from both the terminal and the launcher counts once', async () => {
  const { child, ended } = start('tidy')
  await once(child.stdout, 'data')
  child.kill('SIGTERM')
  await once(child.stderr, 'data')
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 143, out: 'started\ntidied\n' })
})

test('the program ends at once at a second Ctrl-C', async () => {
  const { child, ended } = start('stubborn')
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  await once(child.stderr, 'data')
  const timer = setInterval(() => child.kill('SIGINT'), 20)
  const end = await ended
  clearInterval(timer)
  expect(end).toMatchObject({ code: 130, signal: null })
  // Nor because the grace period is over, which would be printed.
  expect(end.err).not.toContain('livehouse stubborn')
})

test('output that a slow reader has not read yet is not cut off', async () => {
  const child = spawn(process.execPath, [...args, 'patient'], { stdio: ['ignore', 'pipe', 'pipe'] })
  await Promise.race([once(child.stderr, 'data'), once(child, 'exit')])
  expect((await text(child.stdout)).trimEnd().split('\n')).toHaveLength(20_000)
})

test('the program ends quietly when its reader is gone', async () => {
  const { child, ended } = start('talkative')
  await once(child.stdout, 'data')
  child.stdout.destroy()
  expect(await ended).toMatchObject({ code: 0, err: '' })
})

test.each(['stuck', 'leaver'])('the program fails if it ends before its verb does (%s)', async (verb) => {
  const err = 'livehouse: the program was ended before its work was done, perhaps by a job file\n'
  expect(await start(verb).ended).toMatchObject({ code: 1, out: '', err })
})

test('the program ends even if its verb has left something open', async () => {
  expect(await start('untidy').ended).toMatchObject({ code: 0, out: 'done\n', err: '' })
})

test.runIf(existsSync('/dev/full'))('the program reports output that cannot be written, but needs no log', async () => {
  await using full = await open('/dev/full', 'w')
  const run = (out: 'pipe' | number, err: 'pipe' | number) =>
    spawnSync(process.execPath, [...args, 'brief'], { stdio: ['ignore', out, err], encoding: 'utf8' })
  const message = expect.stringMatching(/^\nlivehouse: the output cannot be written: ENOSPC/)
  expect(run(full.fd, 'pipe')).toMatchObject({ status: 1, stderr: message })
  expect(run('pipe', full.fd)).toMatchObject({ status: 0, stdout: 'done\n' })
})

test.each([
  ['broken', 'internal error: '],
  ['forgetful', 'internal error: nobody caught this'],
])('the program ends with a short message when a bug escapes its verb (%s)', async (verb, message) => {
  const { code, err } = await start(verb).ended
  expect(code).toBe(1)
  expect(err).toContain(`livehouse ${verb}: ${message}`)
  expect(err).not.toContain('    at ')
})

test('the program ends if the launcher that waits for it is killed', async () => {
  const child = spawn(process.execPath, [...args, 'obedient'], { stdio: ['ignore', 'pipe', 'ignore', 'ipc'] })
  if (child.stdout) await once(child.stdout, 'data')
  child.disconnect()
  expect(await once(child, 'exit')).toEqual([143, null])
})
