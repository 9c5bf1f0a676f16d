import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, lchown, link, mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { codeOf } from '../../core/errors.ts'
import { findBinaries } from './binaries.ts'
import { readServerFile } from './find-server.ts'
import { embeddedError, type Home, locateHome, prepareHome, translateFileError } from './home.ts'
import { runProgram } from './run-program.ts'

/** The role that livehouse uses: it may create databases and roles, and is not a superuser (`postgres` is). */
export const ROLE = 'livehouse'
const MAJOR_VERSION = '18'
/** Where earlier versions kept the password: in the data directory, which belongs to the server's user. */
const OLD_PASSWORD_FILE = 'livehouse.password'

/**
 * Makes sure that `pgdata` is a cluster of this version that the server's user owns, and creates it if there is none:
 * in another folder, which is then moved, so that an interrupted start, or two at once, leave no half-made cluster.
 * @returns also the password of ROLE
 * @throws db.embedded
 */
export async function prepareCluster(dataDir: string, signal: AbortSignal) {
  try {
    const prepared = await prepareHome(dataDir)
    if (!(await hasCluster(prepared))) await createCluster(prepared, signal)
    // Looks again: the data directory exists now, and the server runs as its owner.
    const home = await locateHome(dataDir)
    return { home, password: (await readPassword(home, 'password')) ?? (await movePassword(home)) }
  } catch (error) {
    throw translateFileError(error, resolve(dataDir))
  }
}

async function movePassword(home: Home): Promise<string> {
  const password = await readServerFile(home, OLD_PASSWORD_FILE)
  if (password === undefined)
    throw embeddedError(home.dataDir, 'its password is gone', `Write it into ${join(home.private, 'password')}`)
  await writeFile(join(home.private, 'password'), password, { mode: 0o600 })
  await rm(join(home.pgdata, OLD_PASSWORD_FILE))
  return password
}

/** Whether there is a cluster of this version; false if the folder is missing or empty. @throws db.embedded */
async function hasCluster(home: Home): Promise<boolean> {
  const { dataDir, pgdata } = home
  if (((await unlessMissing(readdir(pgdata))) ?? []).length === 0) return false
  const version = (await readServerFile(home, 'PG_VERSION'))?.trim()
  if (version === MAJOR_VERSION) return true
  if (version === undefined) {
    const reason = `${pgdata} is not a PostgreSQL data directory`
    throw embeddedError(dataDir, reason, 'Move it away, or set LIVEHOUSE_DATA_DIR to another directory')
  }
  const reason = `its data was created by PostgreSQL ${version}, but this is ${MAJOR_VERSION}`
  const move = `move the data with pg_dump ${MAJOR_VERSION}`
  throw embeddedError(dataDir, reason, `Set LIVEHOUSE_DATA_DIR to another directory and sync again, or ${move}`)
}

const ACCESS = ['-U', 'postgres', '-A', 'scram-sha-256', '-c', 'timezone=UTC', '-c', 'log_timezone=UTC']
/** PostgreSQL's own collation: the same order on every system, and no index that an update of libc breaks. */
const LOCALE = ['-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']

/** The server's user owns the new cluster but not the folder around it, so that this process can move the cluster. */
async function createCluster(home: Home, signal: AbortSignal): Promise<void> {
  const programs = await findBinaries(home, signal)
  // A killed start leaves this folder behind.
  const work = await mkdtemp(join(home.place, 'unfinished-'))
  const newCluster = join(work, 'data')
  const superuserPassword = join(work, 'password')
  const run = async (name: string, args: readonly string[], input = ''): Promise<void> => {
    const { exitCode, output } = await runProgram(home, join(programs, name), args, { signal, input })
    if (exitCode !== 0) throw failureIn(output, home.dataDir)
  }
  try {
    await mkdir(newCluster, { mode: 0o700 })
    await writeFile(superuserPassword, await readOrCreatePassword(home, 'superuser-password'), { mode: 0o600 })
    if (home.owner !== undefined) {
      await chmod(work, 0o711)
      for (const path of [newCluster, superuserPassword]) await lchown(path, home.owner.uid, home.owner.gid)
    }
    await run('initdb', ['-D', newCluster, '--pwfile', superuserPassword, ...ACCESS, ...LOCALE])
    const statements = [
      `create role ${ROLE} login createdb createrole password '${await readOrCreatePassword(home, 'password')}';`,
      `grant pg_signal_backend, pg_read_all_stats to ${ROLE};`,
    ]
    // In single-user mode and before the cluster is in place, so that no superuser ever has to log in.
    await run('postgres', ['--single', '-D', newCluster, '-c', 'exit_on_error=true', 'postgres'], statements.join('\n'))
    await rename(newCluster, home.pgdata).catch(async (error: unknown) => {
      // Another process was faster, and its cluster is used.
      if (!(await hasCluster(home))) throw error
    })
  } finally {
    await removeWork(home, work, newCluster)
  }
}

/** Root removes files of the server's user as that user, who may put links there meanwhile. */
async function removeWork(home: Home, work: string, newCluster: string): Promise<void> {
  if (home.owner !== undefined) {
    await runProgram(home, '/bin/rm', ['-rf', newCluster])
    await rmdir(newCluster).catch(() => undefined)
  }
  await rm(work, { recursive: true, force: true })
}

/** The error for a failed program: quotes the last line of its output, or of a log, that mentions a failure. */
export function failureIn(output: string, dataDir: string): Error {
  const line = output.split('\n').findLast((text) => /error|fatal|panic/i.test(text)) ?? output.split('\n').at(-1) ?? ''
  const repair = `See ${join(dataDir, 'postgres', 'server.log')}, or point DATABASE_URL at a PostgreSQL server`
  return embeddedError(dataDir, line.trim() === '' ? 'it ended without a message' : line.trim(), repair)
}

/** Reads a password from the private folder; undefined if there is none. */
async function readPassword(home: Home, name: string): Promise<string | undefined> {
  return (await unlessMissing(readFile(join(home.private, name), 'utf8')))?.trim()
}

/** The password in this file, which is created if it is missing. Processes that create it at once get the same one. */
async function readOrCreatePassword(home: Home, name: string): Promise<string> {
  const draft = join(home.private, randomUUID())
  const password = randomBytes(24).toString('base64url')
  await writeFile(draft, password, { mode: 0o600 })
  // Unlike a rename, a link never replaces the file of another process.
  await link(draft, join(home.private, name)).catch(() => undefined)
  await rm(draft)
  return (await readPassword(home, name)) ?? password
}

/** Resolves to undefined if the file or folder does not exist. */
async function unlessMissing<Found>(reading: Promise<Found>): Promise<Found | undefined> {
  return await reading.catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
    return undefined
  })
}
