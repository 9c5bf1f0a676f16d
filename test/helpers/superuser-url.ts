import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { locateHome } from '../../src/store/embedded/home.ts'
import type { EmbeddedServer } from '../../src/store/embedded.ts'

/** The URL of the superuser of an embedded PostgreSQL, for what livehouse's own role may not do. */
export async function superuserUrl(server: EmbeddedServer, dataDir: string): Promise<string> {
  const url = new URL(server.url('postgres'))
  url.username = 'postgres'
  url.password = await readFile(join((await locateHome(dataDir)).private, 'superuser-password'), 'utf8')
  return url.href
}
