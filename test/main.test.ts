import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }

const launcher = fileURLToPath(new URL('../src/cli.ts', import.meta.url))
const testVerbs = fileURLToPath(new URL('helpers/main-with-test-verbs.ts', import.meta.url))

function start(script: string, args: readonly string[]) {
  // Without a type in package.json only the launcher tells Node that .ts files are modules.
  const child = spawn(process.execPath, ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', script, ...args], {
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

describe('the program', () => {
  test('tells its version through the launcher', async () => {
    expect(await start(launcher, ['--version']).ended).toMatchObject({
      code: 0,
      out: expect.stringContaining(manifest.version),
      err: '',
    })
  })

  test('exits with 2 at wrong use', async () => {
    expect(await start(launcher, ['no-such-verb']).ended).toMatchObject({ code: 2, out: '' })
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends in order at %s', async (signal, code) => {
    const { child, ended } = start(testVerbs, ['obedient'])
    await once(child.stdout, 'data')
    child.kill(signal)
    const end = await ended
    expect(end).toMatchObject({ code, signal: null, out: 'started\n' })
    expect(end.err).toContain(`${signal}: finishing what is in flight, 10 s at most`)
    expect(end.err).toContain(`livehouse obedient: interrupted by ${signal}`)
  })

  test('a signal that comes from the terminal and again from the launcher is one', async () => {
    const { child, ended } = start(testVerbs, ['tidy'])
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    await once(child.stderr, 'data')
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 143, out: 'started\ntidied\n' })
  })

  test('ends at once at a second Ctrl-C', async () => {
    const { child, ended } = start(testVerbs, ['stubborn'])
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

  test('ends quietly when nobody reads on', async () => {
    const { child, ended } = start(testVerbs, ['talkative'])
    await once(child.stdout, 'data')
    child.stdout.destroy()
    expect(await ended).toMatchObject({ code: 0, err: '' })
  })

  test('does not end well when its verb waits for something that never comes', async () => {
    expect(await start(testVerbs, ['stuck']).ended).toMatchObject({ code: 1, out: '' })
  })

  test.each([
    ['broken', 'internal error: '],
    ['forgetful', 'internal error: nobody caught this'],
  ])('ends with a short message when a bug escapes its verb (%s)', async (verb, message) => {
    const { code, err } = await start(testVerbs, [verb]).ended
    expect(code).toBe(1)
    expect(err).toContain(`livehouse ${verb}: ${message}`)
    expect(err).not.toContain('    at ')
  })
})
