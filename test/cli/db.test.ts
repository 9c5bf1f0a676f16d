import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { db } from '../../src/cli/db.ts'
import { stopEmbedded } from '../../src/db/embedded.ts'
import { openDatabase } from '../../src/db/pool.ts'
import { createTestContext } from '../helpers/cli-context.ts'
import { createPassableFolder } from '../helpers/operating-system.ts'

let folder = ''

beforeAll(async () => {
  folder = await createPassableFolder('db')
})

afterAll(async () => {
  await stopEmbedded(folder, new AbortController().signal)
  await rm(folder, { recursive: true, force: true })
})

async function run(...argv: string[]) {
  const secrets: string[] = []
  const environment = { LIVEHOUSE_DATA_DIR: folder, PATH: '/nowhere' }
  const { context, printed } = createTestContext({ environment, addSecret: (value) => void secrets.push(value) })
  expect(await db.run(context, argv)).toBe(0)
  return { line: printed.join('\n'), secrets }
}

test('start, url, psql and stop serve a BI tool', async () => {
  const started = await run('start')
  const { line: url, secrets } = await run('url')
  const { host, password } = new URL(url)
  expect(started.line).toContain(`runs: ${host}/livehouse`)
  expect(started.line).not.toContain(password)
  expect(secrets).toEqual([password])
  const demo = (await run('url', '--database', 'livehouse_demo')).line
  for (const each of [url, demo]) await (await openDatabase(each)).destroy()
  expect((await run('psql')).line).toContain(url)
  expect((await run('stop')).line).toBe(`stopped: the PostgreSQL in ${folder}`)
  expect((await run('stop')).line).toBe(`no PostgreSQL runs in ${folder}`)
})

test('psql takes over the process, with the password out of its arguments', async () => {
  const fake = join(folder, 'psql')
  await writeFile(fake, '#!/bin/sh\necho "$PGUSER@$PGHOST/$PGDATABASE ${#PGPASSWORD} $*"\nexit 7\n', { mode: 0o755 })
  const cli = join(import.meta.dirname, '..', '..', 'src', 'cli.ts')
  const child = promisify(execFile)(process.execPath, [cli, 'db', 'psql', '--', '-c', 'select 1'], {
    env: { LIVEHOUSE_DATA_DIR: folder, PATH: folder },
  })
  await expect(child).rejects.toMatchObject({ code: 7, stdout: 'livehouse@127.0.0.1/livehouse 32 -c select 1\n' })
})

test.each([[[]], [['restart']], [['start', '--port', '5']]])('%j is wrong use', async (argv) => {
  const { context } = createTestContext({ environment: { LIVEHOUSE_DATA_DIR: folder } })
  await expect(db.run(context, argv)).rejects.toMatchObject({ code: 'usage.invalid' })
})
