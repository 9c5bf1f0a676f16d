import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../core/clock.ts'
import { type Binaries, findBinaries } from './binaries.ts'
import { embeddedError, translateFileError } from './embedded-error.ts'
import { type Home, UNFINISHED_PREFIX } from './home.ts'
import { giveTo } from './owner.ts'
import { runProgram } from './run-program.ts'

export const SUPERUSER = 'livehouse'
const MAJOR_VERSION = '18'
const ABANDONED_MS = 10 * 60_000

/**
 * Makes sure that `pgdata` is a cluster of this version that the server's user owns; creates it where there is none.
 * It is made beside and renamed, so that an interrupted or doubled start leaves no half of one.
 * @throws db.embedded
 */
export async function prepareCluster(home: Home, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    if (!(await hasCluster(home))) await createCluster(home, clock, signal)
    await checkCluster(home)
  } catch (error) {
    throw translateFileError(error, home.dataDir)
  }
}

/** @throws db.embedded when this user may not read it */
export async function readPassword(home: Home): Promise<string> {
  try {
    return await readFile(passwordFile(home.pgdata), 'utf8')
  } catch (error) {
    throw translateFileError(error, home.dataDir)
  }
}

async function hasCluster({ dataDir, pgdata }: Home): Promise<boolean> {
  const names = await readdir(pgdata).catch((error: unknown): string[] => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  })
  if (names.length > 0 && !names.includes('PG_VERSION')) {
    throw embeddedError(
      dataDir,
      `${pgdata} holds something else than a PostgreSQL data directory`,
      'Move it away, or set LIVEHOUSE_DATA_DIR to another directory',
    )
  }
  return names.length > 0
}

async function checkCluster({ dataDir, pgdata, owner }: Home): Promise<void> {
  const { uid } = await stat(pgdata)
  if (uid !== (owner?.uid ?? process.geteuid?.() ?? uid)) {
    if (owner === undefined) throw foreignOwner(dataDir, pgdata, uid)
    await giveTo(owner, pgdata)
  }
  const version = (await readFile(join(pgdata, 'PG_VERSION'), 'utf8')).trim()
  if (version === MAJOR_VERSION) return
  throw embeddedError(
    dataDir,
    `its data was made by PostgreSQL ${version}, this is ${MAJOR_VERSION}`,
    `Set LIVEHOUSE_DATA_DIR to another directory and sync again, or move the data with pg_dump of version ${MAJOR_VERSION}`,
  )
}

function foreignOwner(dataDir: string, pgdata: string, uid: number): Error {
  return embeddedError(
    dataDir,
    `${pgdata} belongs to another user (uid ${uid})`,
    'Run as that user or as root, or set LIVEHOUSE_DATA_DIR to another directory',
  )
}

async function createCluster(home: Home, clock: Clock, signal: AbortSignal): Promise<void> {
  await removeAbandoned(home, clock)
  const binaries = await findBinaries(home, signal)
  const work = await mkdtemp(join(home.place, UNFINISHED_PREFIX))
  try {
    const made = join(work, 'data')
    const password = join(work, 'password')
    await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600 })
    await giveTo(home.owner, work)
    await runInitdb(home, binaries, work, signal)
    await rename(password, passwordFile(made))
    await rename(made, home.pgdata).catch(async (error: unknown) => {
      // Another start was quicker: its cluster is as good.
      if (!(await hasCluster(home))) throw error
    })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function runInitdb(home: Home, { initdb }: Binaries, work: string, signal: AbortSignal): Promise<void> {
  const args = ['-D', join(work, 'data'), '-U', SUPERUSER, '-A', 'scram-sha-256', '--pwfile', join(work, 'password')]
  // The collation is PostgreSQL's own: the same order on every system, and no index broken by an update of libc.
  const locale = ['-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']
  const zone = ['-c', 'timezone=UTC', '-c', 'log_timezone=UTC']
  const { exitCode, output } = await runProgram(initdb, [...args, ...locale, ...zone], {
    owner: home.owner,
    cwd: work,
    signal,
  })
  if (exitCode !== 0) throw failureIn(output, home.dataDir)
}

/** What a log or the output of a failed program says, as one sentence. */
export function failureIn(output: string, dataDir: string): Error {
  if (/No space left on device|Disk quota exceeded/i.test(output)) {
    return embeddedError(dataDir, 'the disk is full', 'Make room, or set LIVEHOUSE_DATA_DIR to another directory')
  }
  const uid = /could not look up effective user ID (\d+)/.exec(output)?.[1]
  if (uid !== undefined) {
    return embeddedError(
      dataDir,
      `it has to run as a user with a name, and the system has none for uid ${uid}`,
      'Run as a user of /etc/passwd, or point DATABASE_URL at a PostgreSQL server',
    )
  }
  const line = output.split('\n').findLast((text) => /error|fatal|panic/i.test(text)) ?? output.split('\n').at(-1) ?? ''
  return embeddedError(
    dataDir,
    line.trim() === '' ? 'it ended without a message' : line.trim(),
    `See ${join(dataDir, 'postgres', 'server.log')}, or point DATABASE_URL at a PostgreSQL server`,
  )
}

/** What a start that was killed left behind. */
async function removeAbandoned({ place }: Home, clock: Clock): Promise<void> {
  for (const name of await readdir(place)) {
    if (!name.startsWith(UNFINISHED_PREFIX)) continue
    const found = await stat(join(place, name)).catch(() => undefined)
    if (found === undefined || clock.now() - found.mtimeMs < ABANDONED_MS) continue
    await rm(join(place, name), { recursive: true, force: true })
  }
}

function passwordFile(pgdata: string): string {
  return join(pgdata, 'livehouse.password')
}
