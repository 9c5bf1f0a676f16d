import { createHash, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../core/clock.ts'
import { codeOf, LivehouseError } from '../core/errors.ts'
import { findBinaries } from './embedded/binaries.ts'
import { failureIn, prepareCluster, ROLE } from './embedded/cluster.ts'
import { embeddedError } from './embedded/embedded-error.ts'
import { findServer, LOCK_FILE } from './embedded/find-server.ts'
import { type Home, locateHome, prepareHome } from './embedded/home.ts'
import { readServerFile } from './embedded/files.ts'
import { runProgram } from './embedded/run-program.ts'
import { createClient } from './driver.ts'

const START_TIMEOUT_MS = 60_000
const POLL_MS = 50
const MOST_STARTS = 3
const CONNECT_TIMEOUT_MS = 5000
/** Above the ports of well-known services, below 32768, where systems take the ports of outgoing connections from. */
const PORTS = [20_000, 32_000] as const
const LOG_FILE = 'server.log'
/** Where PostgreSQL writes the command that it was last started by. */
const OPTIONS_FILE = 'postmaster.opts'

/** A running embedded PostgreSQL. */
export type EmbeddedServer = ReturnType<typeof serverAt>

/**
 * Starts PostgreSQL 18 in a data directory, or finds it running. It outlives this process, so that psql and BI tools
 * can connect; it listens on 127.0.0.1 alone. Processes that start it at once end up with the same server.
 * @throws db.embedded
 */
export async function startEmbedded(dataDir: string, clock: Clock, signal: AbortSignal): Promise<EmbeddedServer> {
  const prepared = await prepareHome(dataDir)
  const password = await prepareCluster(prepared, signal)
  // Again: now the data directory exists, and the server runs as its owner.
  const home = await locateHome(dataDir)
  // Else, of two processes that both remove a stale lock file, one may remove that of the other's new server.
  const name = `livehouse ${createHash('sha256').update(home.pgdata).digest('hex')}`
  const deadline = clock.now() + START_TIMEOUT_MS
  for (let starts = 0; clock.now() < deadline; ) {
    const found = await findServer(home)
    if (found === undefined) {
      if (starts >= MOST_STARTS) await checkFailure(home)
      if (await workAlone(name, async () => await launch(home, starts, signal))) starts += 1
    } else {
      const server = serverAt(found.port, password)
      if (found.isReady && (await takesConnections(server, home))) return server
    }
    await clock.sleep(POLL_MS, signal)
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
  const { pgCtl } = await findBinaries(home, signal)
  const args = ['stop', '-D', home.pgdata, '-m', 'fast', '-w']
  const { exitCode, output } = await runProgram(home, pgCtl, args, { signal })
  if (exitCode !== 0 && (await isEmbeddedRunning(dataDir))) throw failureIn(output, home.dataDir)
  return true
}

/** Whether a server runs in this data directory. */
export async function isEmbeddedRunning(dataDir: string): Promise<boolean> {
  return (await findServer(await locateHome(dataDir))) !== undefined
}

/** Throws why the server does not start, unless processes of a killed one are in the way: these end soon. */
async function checkFailure(home: Home): Promise<void> {
  const failure = failureIn((await readServerFile(home, LOG_FILE)) ?? '', home.dataDir)
  if (!failure.message.includes('is still in use')) throw failure
}

/**
 * Does work unless another process of this machine does it under the same name: an abstract socket (unix(7), at most
 * 107 bytes), which is free again when its process is gone. Only Linux has these: elsewhere every process does it.
 * @returns whether it was done
 */
async function workAlone(name: string, work: () => Promise<void>): Promise<boolean> {
  const holder = createServer()
  try {
    if (process.platform === 'linux') await once(holder.listen(`\0${name}`), 'listening')
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return false
  }
  await work().finally(() => holder.close())
  return true
}

/** Ignores a failure: the caller looks whether a server answers, and if not, why. */
async function launch(home: Home, earlierStarts: number, signal: AbortSignal): Promise<void> {
  const { pgCtl } = await findBinaries(home, signal)
  // Another process may have started it since the caller looked.
  if ((await findServer(home)) !== undefined) return
  // PostgreSQL removes the lock file of a process that is gone, but not where a zombie or another program has its id.
  if (process.platform === 'linux') await rm(join(home.pgdata, LOCK_FILE), { force: true })
  // The port of last time, so that the connections of BI tools stay valid; another where it seems to be taken.
  const former = earlierStarts < MOST_STARTS - 1 ? ((await readServerFile(home, OPTIONS_FILE)) ?? '') : ''
  const port = /"-p" "(\d+)"/.exec(former)?.[1] ?? randomInt(...PORTS)
  const settings = `-c listen_addresses=127.0.0.1 -p ${port} -c unix_socket_directories=''`
  const args = ['start', '-w', '-D', home.pgdata, '-l', join(home.pgdata, LOG_FILE), '-o', settings]
  await runProgram(home, pgCtl, args, { signal, isDaemonStarter: true })
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
    if (error instanceof LivehouseError) {
      throw embeddedError(home.dataDir, error.message, `Find out what listens on its port ${server.port}`, error)
    }
    if (code !== '28P01') return false
    const repair = `Write it into ${join(home.private, 'password')}, or set LIVEHOUSE_DATA_DIR to another directory`
    throw embeddedError(home.dataDir, 'its password was changed', repair, error)
  } finally {
    await client.end()
  }
}
