import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { systemClock } from '../../src/core/clock.ts'
import type { Database } from '../../src/store/database.ts'
import { locateHome } from '../../src/store/embedded/home.ts'
import { startEmbedded, stopEmbedded } from '../../src/store/embedded.ts'
import { openDatabase } from '../../src/store/pool.ts'
import { superuserUrl } from '../../test/helpers/superuser-url.ts'

/** Does the work on an empty database in an embedded PostgreSQL of its own, which is always removed at the end. */
export async function withScratchDatabase(
  signal: AbortSignal,
  work: (db: Kysely<Database>) => Promise<void>,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'livehouse-bench-'))
  try {
    const server = await startEmbedded(dataDir, systemClock, signal)
    await using db = await openDatabase(await superuserUrl(server, dataDir), { signal })
    await work(db)
  } finally {
    await stopEmbedded(dataDir, new AbortController().signal)
    const { place } = await locateHome(dataDir)
    for (const path of [place, dataDir]) await rm(path, { recursive: true, force: true })
  }
}
