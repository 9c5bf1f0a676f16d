import type { Kysely } from 'kysely'
import type { RunStatus } from '../core/outcome.ts'
import type { Database } from '../db/database.ts'

export interface NewRun {
  readonly command: string
  /** What was asked for, without secrets. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly startedAt: Date
}

export interface EndedRun {
  readonly status: RunStatus
  readonly finishedAt: Date
  readonly resumesAt: Date | null
  /** The contract's JSON summary. */
  readonly outcome: unknown
}

/** Writes the start of a run. @returns its id, decimal text */
export async function startRun(db: Kysely<Database>, { command, settings, startedAt }: NewRun): Promise<string> {
  const { run_id } = await db
    .insertInto('livehouse_ops.runs')
    .values({ command, status: 'running', settings: JSON.stringify(settings), started_at: startedAt })
    .returning('run_id')
    .executeTakeFirstOrThrow()
  return run_id
}

export async function finishRun(db: Kysely<Database>, runId: string, run: EndedRun): Promise<void> {
  await db
    .updateTable('livehouse_ops.runs')
    .set({
      status: run.status,
      finished_at: run.finishedAt,
      resumes_at: run.resumesAt,
      outcome: JSON.stringify(run.outcome),
    })
    .where('run_id', '=', runId)
    .execute()
}
