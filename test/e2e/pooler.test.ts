import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { expectTruth } from '../helpers/expect-truth.ts'
import { createPassableFolder, isRoot } from '../helpers/operating-system.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { startQueueAccount, stop } from '../helpers/queue-account.ts'

const pgbouncer = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'].find(existsSync)

test.skipIf(pgbouncer === undefined)('workers and a run go through PgBouncer in transaction mode', async () => {
  await using account = await startQueueAccount(await createTestDatabase({ isMigrated: false }))
  const settings = { DATABASE_URL: await startPooler(account.database.url), LIVEHOUSE_AUTO_MIGRATE: '1' }
  const [first, second] = [await account.startWorker(settings), await account.startWorker(settings)]
  const killed = account.atFirstList(() => first.process.kill('SIGKILL'))
  const running = account.sync([], { settings })
  await killed
  await first.ended
  await account.expireHeld()
  expect(await running).toMatchObject({ code: 0, outcome: { status: 'ok' } })
  await expectTruth(account)
  await stop(second)
})

/** For a test. Five connections carry all. @returns the URL through it */
async function startPooler(url: string): Promise<string> {
  const { hostname, port, username, password } = new URL(url)
  const folder = await createPassableFolder('pgbouncer')
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port: listenPort } = Object(free.address()) satisfies AddressInfo
  free.close()
  const [file, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')]
  const [name, secret] = [decodeURIComponent(username), decodeURIComponent(password)]
  await writeFile(users, `"${name}" "${secret}"\n`)
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${port || 5432} user=${name} password=${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = 5
max_client_conn = 100
`,
  )
  const child = spawn(pgbouncer ?? '', [...(isRoot ? ['-u', 'nobody'] : []), file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  let said = ''
  child.stderr.on('data', (text) => void (said += text))
  while (child.exitCode === null && !said.includes('process up'))
    await Promise.race([once(child.stderr, 'data'), once(child, 'exit')])
  if (child.exitCode !== null) throw new Error(`PgBouncer did not start:\n${said}`)
  const pooled = new URL(url)
  pooled.host = `127.0.0.1:${listenPort}`
  return pooled.href
}
