import { createHash, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../core/clock.ts'
import { codeOf, LivehouseError } from '../core/errors.ts'
import { createClient } from './driver.ts'
import { findBinaries } from './embedded/binaries.ts'
import { failureIn, prepareCluster, ROLE } from './embedded/cluster.ts'
import { findServer, LOCK_FILE, readServerFile } from './embedded/find-server.ts'
import { embeddedError, type Home, locateHome } from './embedded/home.ts'
import { runProgram } from './embedded/run-program.ts'

const START_TIMEOUT_MS = 60_000
const POLL_MS = 50
const MAX_STARTS = 3
const CONNECT_TIMEOUT_MS = 5000
/** Above the ports of well-known services, and below 32768, where the ports of outgoing connections begin. */
const PORTS = [20_000, 32_000] as const
const LOG_FILE = 'server.log'

/** A running embedded PostgreSQL. */
export type EmbeddedServer = ReturnType<typeof serverAt>

/**
 * Starts PostgreSQL 18 in a data directory, or finds it running. The server outlives this process, so that psql and BI
 * tools can connect, and listens on 127.0.0.1 only. Processes that start it at the same time share one server.
 * @throws db.embedded
 */
export async function startEmbedded(dataDir: string, clock: Clock, signal: AbortSignal): Promise<EmbeddedServer> {
  const { home, password } = await prepareCluster(dataDir, signal)
  const deadline = clock.now() + START_TIMEOUT_MS
  for (let starts = 0; clock.now() < deadline; await clock.sleep(POLL_MS, signal)) {
    const running = await findServer(home)
    const server = running?.isReady ? serverAt(running.port, password) : undefined
    if (server && (await takesConnections(server, home))) return server
    if (running === undefined && (await launch(home, starts, signal))) starts += 1
  }
  throw embeddedError(home.dataDir, 'it accepted no connection within a minute', `See ${join(home.pgdata, LOG_FILE)}`)
}

/** Restarts a server that has crashed, which leaves its lock file behind. A server that was stopped stays stopped. */
export async function restartEmbedded(dataDir: string, clock: Clock, signal: AbortSignal): Promise<void> {
  const lock = await readServerFile(await locateHome(dataDir), LOCK_FILE)
  if (lock !== undefined) await startEmbedded(dataDir, clock, signal)
}

/** Stops the server and ends its sessions. @returns whether it was running @throws db.embedded */
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
 * Starts the server, unless another process of this machine is doing so: of two that both remove a stale lock file, one
 * might remove the new file of the other's server. An abstract socket (unix(7), at most 107 bytes) serves as the lock,
 * as it is free again when its process is gone. Only Linux has these; elsewhere every process starts the server.
 * @returns whether it tried; the caller checks whether a server answers @throws db.embedded if the last start failed
 */
async function launch(home: Home, earlierStarts: number, signal: AbortSignal): Promise<boolean> {
  await using lock = createServer((socket) => socket.destroy())
  const name = createHash('sha256').update(home.pgdata).digest('hex')
  try {
    if (process.platform === 'linux') await once(lock.listen(`\0livehouse ${name}`), 'listening')
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return false
  }
  const programs = await findBinaries(home, signal)
  // Another process may have started it since the caller looked.
  if ((await findServer(home)) !== undefined) return true
  // PostgreSQL removes a stale lock file by itself, but not if a zombie or another program has the process id in it.
  if (process.platform === 'linux') await rm(join(home.pgdata, LOCK_FILE), { force: true })
  // Keeps the last start's port, so that connections of BI tools stay valid, or tries another if it seems to be taken.
  const isLast = earlierStarts >= MAX_STARTS - 1
  const lastCommand = isLast ? '' : ((await readServerFile(home, 'postmaster.opts')) ?? '')
  const port = /"-p" "(\d+)"/.exec(lastCommand)?.[1] ?? randomInt(...PORTS)
  // Nothing rotates the log, to which each checkpoint, every five minutes, would add two lines.
  const settings = `-c listen_addresses=127.0.0.1 -p ${port} -c unix_socket_directories='' -c log_checkpoints=off`
  const args = ['start', '-w', '-D', home.pgdata, '-l', join(home.pgdata, LOG_FILE), '-o', settings]
  const { exitCode } = await runProgram(home, join(programs, 'pg_ctl'), args, { signal, isDaemonStarter: true })
  if (exitCode === 0 || !isLast) return true
  const failure = failureIn((await readServerFile(home, LOG_FILE)) ?? '', home.dataDir)
  // Processes of a killed server are in the way, but end soon.
  if (failure.message.includes('is still in use')) return true
  throw failure
}

/** `url` contains the password: use it to connect, never in a log or a message. */
function serverAt(port: number, password: string) {
  const address = `postgresql://${ROLE}:${encodeURIComponent(password)}@127.0.0.1:${port}`
  // PGSSLMODE may require TLS, which this server does not have.
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
