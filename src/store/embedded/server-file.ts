import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { embeddedError } from './embedded-error.ts'
import type { Home } from './home.ts'

/**
 * Reads a file among the server's data; undefined where there is none. The server's user puts there what it likes, and
 * root reads it: so it is followed through no link, and no pipe is waited for.
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
    if (!(error instanceof Error) || !('code' in error)) throw error
    if (error.code === 'ENOENT') return undefined
    throw error.code === 'ELOOP' ? refuse('is a link', error) : error
  }
}
