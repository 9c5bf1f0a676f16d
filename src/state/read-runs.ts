import type { Kysely } from 'kysely'
import type { RunStatus } from '../core/outcome.ts'
import type { Database } from '../db/database.ts'

/** A run as the record has it. */
export interface RecordedRun {
  readonly runId: string
  readonly command: string
  /** `running` also where the process was killed. */
  readonly status: RunStatus | 'running'
  readonly startedAt: Date
  readonly finishedAt: Date | null
}

/** The last `count` runs, the newest first. */
export async function readRuns(db: Kysely<Database>, count: number): Promise<readonly RecordedRun[]> {
  const rows = await db
    .selectFrom('livehouse_ops.runs')
    .select(['run_id', 'command', 'status', 'started_at', 'finished_at'])
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
