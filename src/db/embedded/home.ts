import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, readlink, realpath, stat, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { embeddedError, translateFileError } from './embedded-error.ts'
import { type Owner, serverOwner } from './owner.ts'

/** Where root keeps a cluster whose data directory the server's user cannot reach. */
const REACHABLE_PLACE = '/var/lib/livehouse'

/** Of names in a home of what is renamed when it is whole; a start that was killed leaves it behind. */
export const UNFINISHED_PREFIX = 'unfinished-'

/** pg_ctl and initdb put paths into a shell command between double quotes. */
const UNSAFE_IN_PATH = process.platform === 'win32' ? /["%\n]/ : /["$`\\\n]/

/** Where everything of one embedded PostgreSQL lies. */
export interface Home {
  /** As configured, absolute: what messages name. */
  readonly dataDir: string
  /** Holds `pgdata` and, where they are needed, copies of the programs. */
  readonly place: string
  /** The data directory of PostgreSQL; may not exist yet. */
  readonly pgdata: string
  readonly owner: Owner | undefined
}

/** Finds the home without touching anything. */
export async function locateHome(dataDir: string): Promise<Home> {
  const absolute = resolve(dataDir)
  const link = join(absolute, 'postgres')
  const pgdata = (await lstat(link).catch(() => undefined))?.isSymbolicLink()
    ? resolve(absolute, await readlink(link))
    : link
  return { dataDir: absolute, place: dirname(pgdata), pgdata, owner: await serverOwner(pgdata) }
}

/**
 * Creates what is missing of the home's directories. As root below a directory that only root may enter (/root, often),
 * `postgres` becomes a link to a place that the server's user can reach.
 * @throws db.embedded
 */
export async function prepareHome(dataDir: string): Promise<Home> {
  const absolute = resolve(dataDir)
  if (UNSAFE_IN_PATH.test(absolute)) {
    throw embeddedError(
      absolute,
      'PostgreSQL cannot take a path with quotes, $, ` or \\',
      'Set LIVEHOUSE_DATA_DIR to another directory; spaces and letters of any language are fine',
    )
  }
  try {
    await mkdir(absolute, { recursive: true })
    const home = await locateHome(dataDir)
    if (home.owner === undefined) return home
    await makeReachable(absolute)
    if (home.place !== absolute) {
      await mkdir(home.place, { recursive: true, mode: 0o755 })
      return home
    }
    if (await isReachable(absolute, home.owner)) return home
    if ((await lstat(home.pgdata).catch(() => undefined)) !== undefined) throw unreachable(home, home.owner)
    const place = join(REACHABLE_PLACE, createHash('sha256').update(absolute).digest('hex').slice(0, 16))
    await mkdir(place, { recursive: true, mode: 0o755 })
    await symlink(join(place, 'postgres'), home.pgdata).catch((error: unknown) => {
      // Another start was quicker, with the same link.
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error
    })
    return await locateHome(dataDir)
  } catch (error) {
    throw translateFileError(error, absolute)
  }
}

function unreachable({ dataDir, pgdata }: Home, { uid }: Owner): Error {
  return embeddedError(
    dataDir,
    `root may not run PostgreSQL, and the user that runs it (uid ${uid}) cannot enter ${pgdata}`,
    'Open the folders above it for passing through (chmod o+x), or set LIVEHOUSE_DATA_DIR to another directory',
  )
}

/** The directory itself is ours to open for passing through, whatever the umask or mkdtemp made of it; its parents are not. */
async function makeReachable(directory: string): Promise<void> {
  const { mode, uid } = await stat(directory)
  if (uid === 0 && (mode & 0o001) === 0) await chmod(directory, (mode & 0o777) | 0o011)
}

async function isReachable(directory: string, { uid, gid }: Owner): Promise<boolean> {
  for (let path = await realpath(directory); ; path = dirname(path)) {
    const { mode, uid: ownerUid, gid: ownerGid } = await stat(path)
    const bit = ownerUid === uid ? 0o100 : ownerGid === gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (path === dirname(path)) return true
  }
}
