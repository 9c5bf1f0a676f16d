import type { Kysely } from 'kysely'
import type { Connection } from '../api/connect.ts'
import type { ServiceSettings } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { openWallClock } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'
import { createReadAhead } from '../pipeline/read-ahead.ts'
import { createTurns } from '../pipeline/turns.ts'
import { itemReader } from '../transform/field.ts'
import { createRowBuffers } from '../warehouse/row-buffers.ts'
import type { AppContext, Progress } from './context.ts'

/** What a run needs of a connection. */
export type RunConnection = Pick<Connection, 'fetchPage' | 'serviceClock'>

interface Run {
  readonly db: Kysely<Database>
  readonly service: ServiceSettings
  /** The service's. */
  readonly clock: Clock
  readonly runId: string
  readonly progress: Progress
  /** Batches written at once. */
  readonly loaders: number
}

/** Pages asked for or held over all slices, for each call that may be made at once: one late page does not stop the others. */
const PAGES_AHEAD = 3
const PAGES_PER_SLICE = 50

/** What the slices of a run share, whether they write rows or compare them. */
export function createSliceDeps(
  context: Pick<AppContext, 'clock' | 'log' | 'signal'>,
  { fetchPage }: RunConnection,
  { db, service, clock, runId, progress, loaders }: Run,
) {
  const { log, signal } = context
  const { timeZone, concurrency } = service
  return {
    db,
    fetchPage,
    openItemReader: itemReader,
    clock,
    log,
    signal,
    report: progress.report,
    timeZone,
    wallTimeAt: openWallClock(timeZone),
    runId,
    readAhead: createReadAhead(PAGES_AHEAD * concurrency, context.clock),
    loadTurns: createTurns(loaders),
    rowBuffers: createRowBuffers(runId),
    pagesPerSlice: PAGES_PER_SLICE,
  }
}
