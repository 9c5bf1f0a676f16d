import pLimit from 'p-limit'
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { silentLog } from '../../src/core/log.ts'
import type { FetchPage } from '../../src/core/page.ts'
import { openWallClock } from '../../src/core/wall-clock.ts'
import type { Database } from '../../src/store/database.ts'
import { createReadAhead } from '../../src/sync/read-ahead.ts'
import type { RunDeps } from '../../src/sync/slice-work.ts'
import { itemReader } from '../../src/transform/field.ts'
import { createFakeClock } from './fake-clock.ts'

/** What extracting a slice from scripted pages takes: nothing is known to the database, and nothing is written before it lands. */
export function scriptedDeps(fetchPage: FetchPage, signal = new AbortController().signal): RunDeps {
  const db = new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (instance) => new PostgresIntrospector(instance),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  return {
    db,
    fetchPage,
    openItemReader: itemReader,
    clock: createFakeClock(),
    log: silentLog,
    signal,
    report: () => {},
    timeZone: 'Asia/Shanghai',
    claimableMs: () => Number.POSITIVE_INFINITY,
    wallTimeAt: openWallClock('Asia/Shanghai'),
    runId: '1',
    readAhead: createReadAhead(2, createFakeClock()),
    requireLease: async () => {},
    loadLimit: pLimit(2),
    pagesPerSlice: 50,
  }
}
