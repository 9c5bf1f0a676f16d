import { createHash, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../core/clock.ts'
import { codeOf, LivehouseError } from '../core/errors.ts'
import { findBinaries } from './embedded/binaries.ts'
import { failureIn, prepareCluster, ROLE } from './embedded/cluster.ts'
import { findServer, LOCK_FILE, readServerFile } from './embedded/find-server.ts'
import { embeddedError, type Home, locateHome } from './embedded/home.ts'
import { runProgram } from './embedded/run-program.ts'
import { createClient } from './driver.ts'

const START_TIMEOUT_MS = 60_000
const POLL_MS = 50
const MOST_STARTS = 3
const CONNECT_TIMEOUT_MS = 5000
/** Above the ports of well-known services, below 32768, where systems take the ports of outgoing connections from. */
const PORTS = [20_000, 32_000] as const
const LOG_FILE = 'server.log'

/** A running embedded PostgreSQL. */
export type EmbeddedServer = ReturnType<typeof serverAt>

/**
 * Starts PostgreSQL 18 in a data directory, or finds it running. It outlives this process, so that psql and BI tools
 * can connect; it listens on 127.0.0.1 alone. Processes that start it at once end up with the same server.
 * @throws db.embedded
 */
export async function startEmbedded(dataDir: string, clock: Clock, signal: AbortSignal): Promise<EmbeddedServer> {
  const { home, password } = await prepareCluster(dataDir, signal)
  const deadline = clock.now() + START_TIMEOUT_MS
  for (let starts = 0; clock.now() < deadline; await clock.sleep(POLL_MS, signal)) {
    const found = await findServer(home)
    const server = found?.isReady ? serverAt(found.port, password) : undefined
    if (server && (await takesConnections(server, home))) return server
    if (found === undefined && (await launch(home, starts, signal))) starts += 1
  }
  throw embeddedError(home.dataDir, 'it accepted no connection within a minute', `See ${join(home.pgdata, LOG_FILE)}`)
}

/** Starts the server again where it has crashed: then its lock file is left. One that was stopped stays so. */
export async function restartEmbedded(dataDir: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const lock = await readServerFile(await locateHome(dataDir), LOCK_FILE)
  if (lock !== undefined) await startEmbedded(dataDir, clock, signal)
}

/** Stops the server, and ends its sessions. @returns whether it was running @throws db.embedded */
export async function stopEmbedded(dataDir: string, signal: AbortSignal): Promise<boolean> {
  if (!(await isEmbeddedRunning(dataDir))) return false
  const home = await locateHome(dataDir)
  const programs = await findBinaries(home, signal)
  const args = ['stop', '-D', home.pgdata, '-m', 'fast', '-w']
  const { exitCode, output } = await runProgram(home, join(programs, 'pg_ctl'), args, { signal })
  if (exitCode !== 0 && (await isEmbeddedRunning(dataDir))) throw failureIn(output, home.dataDir)
  return true
}

/** Whether a server runs in this data directory. */
export async function isEmbeddedRunning(dataDir: string): Promise<boolean> {
  return (await findServer(await locateHome(dataDir))) !== undefined
}

/**
 * Starts the server, unless another process of this machine does so: else, of two that both remove a stale lock file,
 * one may remove that of the other's new server. It holds an abstract socket (unix(7), at most 107 bytes), which is
 * free again when its process is gone. Only Linux has these: elsewhere every process starts it. The first failures are
 * ignored: the caller looks whether a server answers.
 * @returns whether it was tried @throws db.embedded
 */
async function launch(home: Home, earlierStarts: number, signal: AbortSignal): Promise<boolean> {
  await using turn = createServer((socket) => socket.destroy())
  const name = createHash('sha256').update(home.pgdata).digest('hex')
  try {
    if (process.platform === 'linux') await once(turn.listen(`\0livehouse ${name}`), 'listening')
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return false
  }
  const programs = await findBinaries(home, signal)
  // Another process may have started it since the caller looked.
  if ((await findServer(home)) !== undefined) return true
  // PostgreSQL removes the lock file of a process that is gone, but not where a zombie or another program has its id.
  if (process.platform === 'linux') await rm(join(home.pgdata, LOCK_FILE), { force: true })
  // The port in the last command, so that the connections of BI tools stay valid; another where it seems to be taken.
  const isLast = earlierStarts >= MOST_STARTS - 1
  const former = isLast ? '' : ((await readServerFile(home, 'postmaster.opts')) ?? '')
  const port = /"-p" "(\d+)"/.exec(former)?.[1] ?? randomInt(...PORTS)
  const settings = `-c listen_addresses=127.0.0.1 -p ${port} -c unix_socket_directories=''`
  const args = ['start', '-w', '-D', home.pgdata, '-l', join(home.pgdata, LOG_FILE), '-o', settings]
  const { exitCode } = await runProgram(home, join(programs, 'pg_ctl'), args, { signal, isDaemonStarter: true })
  if (exitCode === 0 || !isLast) return true
  const failure = failureIn((await readServerFile(home, LOG_FILE)) ?? '', home.dataDir)
  // Processes of a killed server are in the way: these end soon.
  if (failure.message.includes('is still in use')) return true
  throw failure
}

/** `url`: with the password, for connecting, never for a log or a message. */
function serverAt(port: number, password: string) {
  const address = `postgresql://${ROLE}:${encodeURIComponent(password)}@127.0.0.1:${port}`
  // This server has no TLS, which PGSSLMODE may ask for.
  const options = 'sslmode=disable&require_auth=scram-sha-256'
  return { port, url: (database: string) => `${address}/${encodeURIComponent(database)}?${options}` }
}

async function takesConnections(server: EmbeddedServer, home: Home): Promise<boolean> {
  const client = createClient(server.url('postgres'), { connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
  try {
    await client.connect()
    return true
  } catch (error) {
    const code = codeOf(error)
    if (code === '53300') return true
    if (error instanceof LivehouseError)
      throw embeddedError(home.dataDir, error.message, `Find out what listens on its port ${server.port}`, error)
    if (code !== '28P01') return false
    const repair = `Write it into ${join(home.private, 'password')}, or set LIVEHOUSE_DATA_DIR to another directory`
    throw embeddedError(home.dataDir, 'its password was changed', repair, error)
  } finally {
    await client.end()
  }
}
