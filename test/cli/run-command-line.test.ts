import { expect, test } from 'vitest'
import type { Command } from '../../src/cli/command.ts'
import { LivehouseError } from '../../src/core/errors.ts'
import { livehouse } from '../helpers/command-line.ts'

/** Runs a command line in which `sync` is replaced. */
async function run(argv: readonly string[], command: Command['run'], settings: Readonly<Record<string, string>> = {}) {
  const environment = { LIVEHOUSE_APP_SECRET: 'hush-hush', ...settings }
  return await livehouse(argv, environment, { sync: ['', async () => ({ help: () => '', run: command })] })
}

const failWith = (error: unknown) => async () => {
  throw error
}

const problems = ['LIVEHOUSE_BASE_URL is not set; …', 'DATABASE_URL is not set; …']
const config = new LivehouseError('config.invalid', '2 settings are missing or wrong', { problems })

test.each([
  ['', config],
  [', even if the cleanup fails after it', new SuppressedError(new Error('cannot close'), config)],
])('a failure is one message with a line for each problem%s', async (_case, error) => {
  const { code, out, err } = await run(['sync'], failWith(error))
  expect({ code, out }).toEqual({ code: 2, out: '' })
  const hint = 'The first time, `livehouse init` asks for the settings; `livehouse demo` needs none.'
  expect(err).toBe(`livehouse sync: 2 settings are missing or wrong\n  ${problems.join('\n  ')}\n${hint}\n`)
})

const unreachable = new LivehouseError('db.unreachable', 'no database at h:1', {})

test.each([
  [2, config, problems],
  [1, unreachable, ['no database at h:1']],
])('a failure exits with %i and one JSON object with an error for each problem', async (exitCode, error, messages) => {
  const { code, out, err } = await run(['sync', '--json'], failWith(error))
  expect(code).toBe(exitCode)
  expect(out.trimEnd().split('\n')).toHaveLength(1)
  const errors = messages.map((message) => ({ stream: null, partition: null, code: error.code, message }))
  expect(JSON.parse(out)).toMatchObject({ command: 'sync', status: 'failed', errors })
  expect(err).toContain(`livehouse sync: ${error.message}\n`)
})

test('an internal error, unlike one of the system, says how to locate it, and LOG_LEVEL=debug shows where', async () => {
  const bug = failWith(new TypeError('x is not a function'))
  const { code, err } = await run(['sync'], bug)
  expect(code).toBe(1)
  const advice = 'This is a bug. LOG_LEVEL=debug shows where it happened.'
  expect(err).toBe(`livehouse sync: internal error: x is not a function\n  ${advice}\n`)
  expect((await run(['sync'], bug, { LOG_LEVEL: 'debug' })).err).toContain('run-command-line.test.ts')
  expect(JSON.parse((await run(['sync', '--json'], bug)).out).errors[0].code).toBe('internal')
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { syscall: 'write' })
  expect((await run(['sync'], failWith(full))).err).toBe('livehouse sync: ENOSPC: no space left on device, write\n')
})

test('a failure never shows a secret', async () => {
  const error = new LivehouseError('api.unreachable', 'GET https://h/?s=hush%2Dhush and learnt-later', { call: '' })
  const { out, err } = await run(['sync', '--json'], async ({ addSecret }) => {
    addSecret('learnt-later')
    throw error
  })
  expect(out + err).not.toMatch(/hush|learnt-later/)
  expect(out).toContain('[redacted]')
})

test('a failure after the result is printed adds no second JSON object', async () => {
  const { code, out } = await run(['sync', '--json'], async ({ print }) => {
    print('{}')
    throw new Error('while closing')
  })
  expect({ code, out }).toEqual({ code: 1, out: '{}\n' })
})
