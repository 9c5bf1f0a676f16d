import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { startEmulatedService } from '../helpers/emulated-service.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { credentialsOf } from '../helpers/run-verb.ts'
import { startScriptedService } from '../helpers/scripted-service.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const launcher = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

/** Runs `livehouse init` in a folder, with answers on standard input, one per line. */
async function init(cwd: string, answers: readonly string[]) {
  const child = spawn(process.execPath, [launcher, 'init'], { cwd, env: { LOG_LEVEL: 'silent' } })
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  child.stdin.end(answers.map((answer) => `${answer}\n`).join(''))
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, out, err }
}

test('a new user answers some questions and gets checked settings that nobody else can read', async () => {
  await using service = await startEmulatedService({ clock: undefined, appSecret: `it's "#1"` })
  await using database = await createTestDatabase({ isMigrated: false })
  const { baseUrl, authUrl, appId, appSecret, channelIds } = service.emulator
  const folder = createTemporaryFolder('init')
  const file = join(folder, '.env')

  expect(await init(folder, [baseUrl])).toMatchObject({ code: 2, err: expect.stringContaining('.env is not written') })
  const credentials = ['', authUrl, appId, appSecret]
  const { code, out, err } = await init(folder, [baseUrl, ...credentials, channelIds.join(), database.url])
  expect(out).not.toContain('✗')
  expect(out).toMatch(/✓ 4\.7 visitorList[^]*Next: livehouse sync\n$/)
  expect(code).toBe(0)
  expect(`${out}${err}`).not.toContain(appSecret)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const others = { LIVEHOUSE_CHANNELS: channelIds.join(), DATABASE_URL: database.url }
  expect(parseEnv(readFileSync(file, 'utf8'))).toEqual({ ...credentialsOf(service.emulator), ...others })

  const secondRun = await init(folder, ['http://127.0.0.1:9'])
  expect(secondRun).toMatchObject({ code: 2, err: expect.stringContaining('.env is there already') })
  expect(readFileSync(file, 'utf8')).toContain(baseUrl)
})

test('wrong answers are reported without secrets, and written all the same', async () => {
  const folder = createTemporaryFolder('init-wrong')
  await using database = await createTestDatabase({ isMigrated: false })
  const answer = { status: 403, json: { errors: { code: 403, message: 'no s3cr3t!' } } }
  await using service = await startScriptedService(() => answer)
  const refused = await init(createTemporaryFolder('init-refused'), [service.url, 's3cr3t', 'nine', database.url])
  expect(`${refused.out}${refused.err}`).toContain('no [redacted]!')
  const { code, out } = await init(folder, ['http://127.0.0.1:1', 'token', 'nine', database.url])
  expect(code).toBe(1)
  expect(out).toContain('✗ base URL')
  expect(out).toContain('Correct .env, then run livehouse doctor.')
  expect(readFileSync(join(folder, '.env'), 'utf8')).toContain('LIVEHOUSE_CHANNELS=nine\n')
})
