import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const testVerbs = fileURLToPath(new URL('helpers/main-with-test-verbs.ts', import.meta.url))

function start(verb: string) {
  // Without a type in package.json only the launcher tells Node that .ts files are modules.
  const child = spawn(process.execPath, ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', testVerbs, verb], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text.out += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.err += chunk))
  return { child, text, ended: ending(child, text) }
}

async function ending(child: ChildProcess, text: { out: string; err: string }) {
  const [code, signal]: unknown[] = await once(child, 'close')
  return { code, signal, ...text }
}

test('the program ends in order at a signal', async () => {
  const { child, ended } = start('obedient')
  await once(child.stdout, 'data')
  child.kill('SIGINT')
  const end = await ended
  expect(end).toMatchObject({ code: 130, signal: null, out: 'started\n' })
  expect(end.err).toContain('SIGINT: finishing what is in flight, 10 s at most')
  expect(end.err).toContain('livehouse obedient: interrupted by SIGINT')
})

test('a signal that comes from the terminal and again from the launcher is one', async () => {
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
  const again = setInterval(() => child.kill('SIGINT'), 20)
  const end = await ended
  clearInterval(again)
  expect(end).toMatchObject({ code: 130, signal: null })
  // Nor after the time of grace, which is told.
  expect(end.err).not.toContain('livehouse stubborn')
})

test('the program ends quietly when nobody reads on', async () => {
  const { child, ended } = start('talkative')
  await once(child.stdout, 'data')
  child.stdout.destroy()
  expect(await ended).toMatchObject({ code: 0, err: '' })
})

test('the program does not end well when its verb waits for something that never comes', async () => {
  expect(await start('stuck').ended).toMatchObject({ code: 1, out: '' })
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
