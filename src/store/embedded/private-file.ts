import { randomBytes, randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Home } from './home.ts'

/** A file of the private folder: the password of the role livehouse, that of the superuser, and the port of last time. */
export type PrivateFile = 'password' | 'superuser-password' | 'port'

/** Undefined where there is none. */
export async function readPrivate(home: Home, name: PrivateFile): Promise<string | undefined> {
  try {
    return (await readFile(join(home.private, name), 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

export async function writePrivate(home: Home, name: PrivateFile, text: string): Promise<void> {
  await writeFile(join(home.private, name), text, { mode: 0o600 })
}

/** The password in this file; where there is none a new one, the same for all who make it at once. */
export async function keepPassword(home: Home, name: PrivateFile): Promise<string> {
  const draft = join(home.private, randomUUID())
  const password = randomBytes(24).toString('base64url')
  await writeFile(draft, password, { mode: 0o600 })
  // Unlike a renamed file, a link never takes the place of another's.
  await link(draft, join(home.private, name)).catch(() => undefined)
  await rm(draft)
  return (await readPrivate(home, name)) ?? password
}
