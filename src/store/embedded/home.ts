import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, readFile, readlink, stat, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { codeOf, LivehouseError } from '../../core/errors.ts'
import { type Owner, runProgram } from './run-program.ts'

/** Where root puts a cluster if the server's user cannot reach the configured directory. */
const REACHABLE_PLACE = '/var/lib/livehouse'

/** pg_ctl and initdb put paths into a shell command, between double quotes. */
const UNSAFE_IN_PATH = process.platform === 'win32' ? /["%\n]/ : /["$`\\\n]/

/** The folders of one embedded PostgreSQL. */
export interface Home {
  /** The configured directory as an absolute path, for messages. */
  readonly dataDir: string
  /** Holds the passwords; only this user may enter. */
  readonly private: string
  /** Holds `pgdata` and, if they are needed, copies of the programs. */
  readonly place: string
  /** PostgreSQL's data directory; may not exist yet. Under root, the only folder that the server's user may write. */
  readonly pgdata: string
  readonly owner: Owner | undefined
}

/** Finds the home without any change. */
export async function locateHome(dataDir: string): Promise<Home> {
  const absolute = resolve(dataDir)
  const link = join(absolute, 'postgres')
  const pgdata = (await lstat(link).catch(() => undefined))?.isSymbolicLink()
    ? resolve(absolute, await readlink(link))
    : link
  const owner = await serverOwner(pgdata)
  return { dataDir: absolute, private: join(absolute, 'private'), place: dirname(pgdata), pgdata, owner }
}

/**
 * Creates the missing directories of the home. For root, below a directory that only root may enter (often /root),
 * `postgres` becomes a link to a place that the server's user can reach.
 * @throws db.embedded if another user could replace what is in them; errors of files
 */
export async function prepareHome(dataDir: string): Promise<Home> {
  const absolute = resolve(dataDir)
  if (UNSAFE_IN_PATH.test(absolute)) {
    const repair = 'Set LIVEHOUSE_DATA_DIR to another directory; spaces and letters of any language are fine'
    throw embeddedError(absolute, 'PostgreSQL cannot take a path with quotes, $, ` or \\', repair)
  }
  await mkdir(absolute, { recursive: true })
  const home = await locateHome(dataDir)
  if (home.owner !== undefined) await preparePlace(home, home.owner)
  await createPrivateFolder(home)
  return await locateHome(dataDir)
}

async function preparePlace(home: Home, owner: Owner): Promise<void> {
  const { dataDir, pgdata, place } = home
  await createRootOwned(dataDir, dataDir)
  await chmod(dataDir, ((await stat(dataDir)).mode & 0o777) | 0o011)
  if (place !== dataDir) return createRootOwned(place, dataDir)
  if ((await runProgram(home, '/bin/sh', ['-c', 'cd "$0"', dataDir])).exitCode === 0) return
  if ((await lstat(pgdata).catch(() => undefined)) !== undefined) {
    const reason = `root may not run PostgreSQL, and the user that runs it (uid ${owner.uid}) cannot enter ${pgdata}`
    const open = 'Let others pass through the folders above it (chmod o+x)'
    throw embeddedError(dataDir, reason, `${open}, or set LIVEHOUSE_DATA_DIR to another directory`)
  }
  const reachable = join(REACHABLE_PLACE, createHash('sha256').update(dataDir).digest('hex').slice(0, 16))
  await createRootOwned(reachable, dataDir)
  await symlink(join(reachable, 'postgres'), pgdata).catch((error: unknown) => {
    // Another process has created the same link.
    if (codeOf(error) !== 'EEXIST') throw error
  })
}

/** Creates a folder that only root may change: others could replace what is in it at any time. @throws db.embedded */
async function createRootOwned(folder: string, dataDir: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o755 })
  const { uid, gid, mode } = await stat(folder)
  if (uid === 0 && (mode & (gid === 0 ? 0o002 : 0o022)) === 0) return
  const repair = `Give it to root alone (chown root ${folder}; chmod go-w ${folder}), or do not run as root`
  throw embeddedError(dataDir, `${folder} may be changed by others (uid ${uid}), and livehouse runs as root`, repair)
}

async function createPrivateFolder({ dataDir, private: folder }: Home): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const info = await lstat(folder)
  if (!info.isDirectory() || info.uid !== (process.geteuid?.() ?? info.uid)) {
    const repair = 'Run as its owner, or set LIVEHOUSE_DATA_DIR to another directory'
    throw embeddedError(dataDir, `${folder} is not a folder of this user`, repair)
  }
  if ((info.mode & 0o077) !== 0) await chmod(folder, 0o700)
}

/** By convention nobody and nogroup, which need no entry in /etc/passwd. Other services may use them too. */
const NOBODY: Owner = { uid: 65_534, gid: 65_534 }

/**
 * The user that the server runs as; undefined for the present one. PostgreSQL refuses to run as root. So root runs it
 * as the owner of the data; before there is any, as the account `livehouse` if the system has one, or else as nobody.
 */
export async function serverOwner(pgdata: string, accounts = '/etc/passwd'): Promise<Owner | undefined> {
  if (process.geteuid?.() !== 0) return undefined
  const info = await lstat(pgdata).catch(() => undefined)
  if (info?.isDirectory() && info.uid !== 0) return { uid: info.uid, gid: info.gid }
  const [, uid, gid] = /^livehouse:[^:]*:(\d+):(\d+):/m.exec(await readFile(accounts, 'utf8').catch(() => '')) ?? []
  return uid === undefined || Number(uid) === 0 ? NOBODY : { uid: Number(uid), gid: Number(gid) }
}

/** An error `db.embedded`. `repair` is a whole sentence without its full stop. */
export function embeddedError(dataDir: string, reason: string, repair: string, cause?: unknown): LivehouseError {
  const message = `The embedded PostgreSQL in ${dataDir} cannot run: ${reason}. ${repair}.`
  return new LivehouseError('db.embedded', message, {}, { cause })
}

/** Translates a failed file operation in the data directory; any other error is returned unchanged. */
export function translateFileError(error: unknown, dataDir: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error
  const repair = 'Make it a directory that this user may write, with room left, or set LIVEHOUSE_DATA_DIR to another'
  return embeddedError(dataDir, `its directory cannot be used (${error.message})`, repair, error)
}
