import { lchown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** A user and group of the operating system. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** By convention nobody and nogroup; needs no entry in /etc/passwd. */
const NOBODY: Owner = { uid: 65_534, gid: 65_534 }

/**
 * As whom the server runs: PostgreSQL refuses root, so root runs it as the owner of the data directory, or as nobody.
 * Undefined for any other user, who runs it as itself.
 */
export async function serverOwner(pgdata: string): Promise<Owner | undefined> {
  if (process.geteuid?.() !== 0) return undefined
  const found = await lstat(pgdata).catch(() => undefined)
  return found === undefined || found.uid === 0 || !found.isDirectory() ? NOBODY : { uid: found.uid, gid: found.gid }
}

/** Gives a directory and everything in it to `owner`; without one it stays as it is. */
export async function giveTo(owner: Owner | undefined, path: string): Promise<void> {
  if (owner === undefined) return
  await lchown(path, owner.uid, owner.gid)
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), owner.uid, owner.gid)
  }
}
