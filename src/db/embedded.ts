import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Clock } from '../core/clock.ts'
import { findBinaries } from './embedded/binaries.ts'
import { failureIn, prepareCluster, readPassword, SUPERUSER } from './embedded/cluster.ts'
import { embeddedError } from './embedded/embedded-error.ts'
import { type Home, locateHome, prepareHome } from './embedded/home.ts'
import { choosePort, rememberPort } from './embedded/port.ts'
import { runProgram } from './embedded/run-program.ts'
import { isStale, readServerLock, removeStaleLock } from './embedded/server-lock.ts'

const PATIENCE_MS = 60_000
const POLL_MS = 50
const STARTS = 3
const CONNECT_TIMEOUT_MS = 5000

/** A running embedded PostgreSQL. */
export interface EmbeddedServer {
  readonly port: number
  /** With the password: for connecting, never for a log or a message. */
  readonly url: (database: string) => string
}

/**
 * Starts PostgreSQL 18 in a data directory, or finds it running. It is left running: it outlives this process, so that
 * psql and BI tools can connect; it listens on 127.0.0.1 alone. Several starters at once end up with the same server.
 * @throws db.embedded
 */
export async function startEmbedded(dataDir: string, clock: Clock, signal: AbortSignal): Promise<EmbeddedServer> {
  const prepared = await prepareHome(dataDir)
  await prepareCluster(prepared, clock, signal)
  // Once more: now there is a directory whose owner says as whom the server runs.
  const home = await locateHome(dataDir)
  const password = await readPassword(home)
  const deadline = clock.now() + PATIENCE_MS
  for (let starts = 0; clock.now() < deadline; ) {
    const lock = await readServerLock(home.pgdata)
    if (lock !== undefined && !(await isStale(lock, home.pgdata))) {
      const server = serverAt(lock.port, password)
      if (lock.isReady && (await takesConnections(server, home))) return server
    } else {
      if (lock !== undefined) await removeStaleLock(lock, home.pgdata)
      if (starts === STARTS) throw failureIn(await readLog(home), home.dataDir)
      starts += 1
      await launch(home, signal)
      continue
    }
    await clock.sleep(POLL_MS, signal)
  }
  throw embeddedError(home.dataDir, 'it took no connection within a minute', `See ${logFile(home)}`)
}

/**
 * Stops it; what is connected is disconnected.
 * @returns whether it was running
 * @throws db.embedded
 */
export async function stopEmbedded(dataDir: string, signal: AbortSignal): Promise<boolean> {
  if (!(await isEmbeddedRunning(dataDir))) return false
  const home = await locateHome(dataDir)
  const { pgCtl } = await findBinaries(home, signal)
  const args = ['stop', '-D', home.pgdata, '-m', 'fast', '-w']
  const { exitCode, output } = await runProgram(pgCtl, args, { owner: home.owner, cwd: home.place, signal })
  if (exitCode !== 0 && (await isEmbeddedRunning(dataDir))) throw failureIn(output, home.dataDir)
  return true
}

/** Whether a server works in this data directory. */
export async function isEmbeddedRunning(dataDir: string): Promise<boolean> {
  const { pgdata } = await locateHome(dataDir)
  const lock = await readServerLock(pgdata)
  return lock !== undefined && !(await isStale(lock, pgdata))
}

/** Its failure is not told here: the loser of two starts fails too. What counts is whether a server answers. */
async function launch(home: Home, signal: AbortSignal): Promise<void> {
  const { pgCtl } = await findBinaries(home, signal)
  const port = await choosePort(home.pgdata)
  const settings = `-c listen_addresses=127.0.0.1 -p ${port} -c unix_socket_directories=''`
  const args = ['start', '-w', '-D', home.pgdata, '-l', logFile(home), '-o', settings]
  const options = { owner: home.owner, cwd: home.place, signal, isDaemonStarter: true }
  const { exitCode } = await runProgram(pgCtl, args, options)
  if (exitCode === 0) await rememberPort(home.pgdata, port)
}

function serverAt(port: number, password: string): EmbeddedServer {
  return {
    port,
    url: (database) => `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`,
  }
}

async function takesConnections(server: EmbeddedServer, { dataDir }: Home): Promise<boolean> {
  const client = new Client({
    connectionString: server.url('postgres'),
    application_name: 'livehouse',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === '53300') return true
    if (code !== '28P01') return false
    throw embeddedError(
      dataDir,
      'its password was changed',
      'Write it into postgres/livehouse.password there, or set LIVEHOUSE_DATA_DIR to another directory',
      error,
    )
  } finally {
    await client.end()
  }
}

async function readLog(home: Home): Promise<string> {
  return readFile(logFile(home), 'utf8').catch(() => '')
}

function logFile({ pgdata }: Home): string {
  return join(pgdata, 'server.log')
}
