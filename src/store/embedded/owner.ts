import { lstat, readFile } from 'node:fs/promises'

/** A user and group of the operating system. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** By convention nobody and nogroup; needs no entry in /etc/passwd. Other services may run as it too. */
const NOBODY: Owner = { uid: 65_534, gid: 65_534 }

/**
 * As whom the server runs: PostgreSQL refuses root, so root runs it as the owner of the data, and new ones as the account
 * `livehouse`, where the system has one, or as nobody. Undefined for any other user, who runs it as itself.
 */
export async function serverOwner(pgdata: string, accounts = '/etc/passwd'): Promise<Owner | undefined> {
  if (process.geteuid?.() !== 0) return undefined
  const found = await lstat(pgdata).catch(() => undefined)
  if (found?.isDirectory() && found.uid !== 0) return { uid: found.uid, gid: found.gid }
  const [, uid, gid] = /^livehouse:[^:]*:(\d+):(\d+):/m.exec(await readFile(accounts, 'utf8').catch(() => '')) ?? []
  return uid === undefined || Number(uid) === 0 ? NOBODY : { uid: Number(uid), gid: Number(gid) }
}
