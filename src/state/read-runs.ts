import type { Kysely } from 'kysely'
import type { Database } from '../db/database.ts'
import { type RecordedStatus, recordedStatus } from './runs.ts'

/** A run as the record has it. */
export interface RecordedRun {
  readonly runId: string
  readonly command: string
  readonly status: RecordedStatus
  readonly startedAt: Date
  readonly finishedAt: Date | null
}

/** The last `count` runs, the newest first. `hasLeases`: false for a database of an older livehouse. */
export async function readRuns(db: Kysely<Database>, count: number, hasLeases = true): Promise<readonly RecordedRun[]> {
  const rows = await db
    .selectFrom('livehouse_ops.runs')
    .select(['run_id', 'command', 'started_at', 'finished_at'])
    .select(hasLeases ? recordedStatus.as('status') : 'status')
    .orderBy('run_id', 'desc')
    .limit(count)
    .execute()
  return rows.map(({ run_id, command, status, started_at, finished_at }) => ({
    runId: run_id,
    command,
    status,
    startedAt: started_at,
    finishedAt: finished_at,
  }))
}
