import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { db } from '../../src/cli/db.ts'
import { createPassableFolder, giveToServer, isRoot } from '../helpers/operating-system.ts'
import { runVerb } from '../helpers/run-verb.ts'
import { stopAtEnd } from '../helpers/temporary-folder.ts'

// The server's user owns the data. Nothing it puts there may make livehouse, possibly root, read or write elsewhere.
const folder = await createPassableFolder('attackers')
const dataDir = stopAtEnd(join(folder, 'data'))
const pgdata = join(dataDir, 'postgres')
const victim = join(folder, 'victim')

beforeAll(async () => {
  await writeFile(victim, 'precious', { mode: 0o600 })
  await run('start')
  await run('stop')
})

async function run(action: string, directory = dataDir) {
  const { code, printed, error } = await runVerb(db, [action], { environment: { LIVEHOUSE_DATA_DIR: directory } })
  return { code, printed: printed.join('\n'), reason: error instanceof Error ? error.message : '' }
}

function expectRefused(start: Awaited<ReturnType<typeof run>>, reason: string): void {
  expect(start).toMatchObject({ code: undefined, reason: expect.stringContaining(reason) })
  expect(start.reason).not.toContain('precious')
}

/** Puts a link among the data, as the server's user can. */
async function plantLink(name: string): Promise<void> {
  await rm(join(pgdata, name), { force: true })
  await symlink(victim, join(pgdata, name))
  await giveToServer(join(pgdata, name))
}

test('a link among the data redirects no write, and the password is in a private folder', async () => {
  const own = join(dataDir, 'private')
  await chmod(own, 0o755)
  for (const name of ['livehouse.port', 'livehouse.password']) await plantLink(name)
  expect(await run('start')).toMatchObject({ code: 0 })
  expect(await readFile(victim, 'utf8')).toBe('precious')
  expect((await stat(own)).mode & 0o777).toBe(0o700)
  expect((await stat(own)).uid).toBe(process.geteuid?.())
  expect((await stat(join(own, 'password'))).mode & 0o077).toBe(0)
  await run('stop')
})

test.each(['livehouse.password', 'postmaster.pid', 'PG_VERSION'])('%s is not read through a link', async (name) => {
  const file = join(pgdata, name)
  const password = join(dataDir, 'private', 'password')
  // Without it, livehouse looks for the one that earlier versions kept among the data.
  if (name === 'livehouse.password') await rename(password, `${password}.kept`)
  if (name === 'PG_VERSION') await rename(file, `${file}.kept`)
  await plantLink(name)
  const start = await run('start')
  await rm(file)
  for (const path of [password, file]) await rename(`${path}.kept`, path).catch(() => {})
  expectRefused(start, `${file} is a link`)
})

test.runIf(isRoot)('a file among the data that another user owns is not read', async () => {
  const file = join(pgdata, 'PG_VERSION')
  await chown(file, 12_345, 12_345)
  const start = await run('start')
  await giveToServer(file)
  expectRefused(start, "is not owned by the server's user")
})

test('a password that an earlier version kept among the data moves to the private folder', async () => {
  const [former, password] = [join(pgdata, 'livehouse.password'), join(dataDir, 'private', 'password')]
  await rename(password, former)
  await giveToServer(former)
  expect(await run('start')).toMatchObject({ code: 0 })
  await expect(stat(former)).rejects.toMatchObject({ code: 'ENOENT' })
  expect((await stat(password)).uid).toBe(process.geteuid?.())
  await run('stop')
})

/** A process named like the server, in its folder, as its user. It prints its port, then in hex what it receives. */
const forged = `
process.title = 'postgres'
const server = require('node:net').createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', () => {
    socket.on('data', (data) => {
      console.log(data.toString('hex'))
      if (/^[PQ]/.test(data.toString('latin1'))) socket.destroy() // a statement
    })
    socket.write(Buffer.from(process.argv[1], 'hex'))
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`
const ready = '5a0000000549'

test.runIf(process.platform === 'linux').each([
  ['asks for the password in clear', '520000000800000003'],
  ['asks for a hash of the password', '520000000c0000000501020304'],
  ['only says that it is ready', ready],
  ['asks for nothing', `520000000800000000${ready}`],
  ['begins SCRAM and proves nothing', `52000000170000000a534352414d2d5348412d3235360000520000000800000000${ready}`],
])('a forged server that %s is refused, and gets no password', async (_, answer) => {
  const { uid, gid } = await stat(pgdata)
  const options = { cwd: pgdata, ...(isRoot && { uid, gid }) }
  const child = spawn(process.execPath, ['-e', forged, answer], { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (text) => (output += text))
  const ended = once(child, 'close')
  while (!output.includes('\n') && child.exitCode === null) await Promise.race([once(child.stdout, 'data'), ended])
  const [port] = output.split('\n')
  const lock = join(pgdata, 'postmaster.pid')
  await writeFile(lock, `${child.pid}\n${pgdata}\n1700000000\n${port}\n\n127.0.0.1\n\nready\n`)
  await giveToServer(lock)
  const start = await run('start')
  child.kill('SIGKILL')
  await ended
  await rm(lock)
  expectRefused(start, 'does not prove by SCRAM')
  const received = Buffer.from(output.split('\n').slice(1).join(''), 'hex').toString('latin1')
  expect(received).not.toContain(await readFile(join(dataDir, 'private', 'password'), 'utf8'))
  expect(received).not.toContain('md5')
})

test('a private folder that is a link is refused; root refuses a folder that everybody may write', async () => {
  const other = join(folder, 'linked')
  await mkdir(other)
  await symlink(folder, join(other, 'private'))
  expect((await run('start', other)).reason).toContain('private is not a folder of this user')

  // Other users than root own what they keep there.
  const open = join(folder, 'open')
  await mkdir(open)
  await chmod(open, 0o777)
  const { code, reason } = await run('start', open)
  await run('stop', open)
  const refused = { code: undefined, reason: expect.stringMatching(/may be changed by others.*chmod go-w/) }
  expect({ code, reason }).toMatchObject(isRoot ? refused : { code: 0 })
})
