import { randomBytes, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { embeddedError } from './embedded-error.ts'
import type { Home } from './home.ts'
import { codeOf } from '../../core/errors.ts'

/** A file of the private folder: the password of the role livehouse, or that of the superuser. */
export type PasswordFile = 'password' | 'superuser-password'

/** A password that is kept; undefined where there is none. */
export async function readPassword(home: Home, name: PasswordFile): Promise<string | undefined> {
  try {
    return (await readFile(join(home.private, name), 'utf8')).trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The password in this file, which is created where there is none. Processes that do so at once get the same one. */
export async function keepPassword(home: Home, name: PasswordFile): Promise<string> {
  const draft = join(home.private, randomUUID())
  const password = randomBytes(24).toString('base64url')
  await writeFile(draft, password, { mode: 0o600 })
  // Unlike a rename, a link never replaces the file of another process.
  await link(draft, join(home.private, name)).catch(() => undefined)
  await rm(draft)
  return (await readPassword(home, name)) ?? password
}

/**
 * Reads a file among the server's data; undefined where there is none. The server's user may put anything there, and
 * root reads it: so no link is followed, and no pipe is waited for.
 * @throws db.embedded when it is anything else than a file of the server's user
 */
export async function readServerFile({ dataDir, pgdata, owner }: Home, name: string): Promise<string | undefined> {
  const path = join(pgdata, name)
  const refuse = (what: string, cause?: unknown) =>
    embeddedError(dataDir, `${path} ${what}`, 'Find out who put it there, and take it away', cause)
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const found = await file.stat()
    if (!found.isFile()) throw refuse('is no file')
    if (found.uid !== (owner?.uid ?? process.geteuid?.() ?? found.uid)) throw refuse("is not the server's own")
    return await file.readFile('utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw codeOf(error) === 'ELOOP' ? refuse('is a link', error) : error
  }
}
