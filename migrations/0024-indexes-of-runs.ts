import { type Kysely, sql } from 'kysely'

/** The last run of each command, and old runs that nothing refers to, are found without reading them all. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [name, on] of indexes) await sql`CREATE INDEX ${sql.id(name)} ON ${sql.raw(on)}`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  for (const [name] of indexes) await sql`DROP INDEX ${sql.id('livehouse_ops', name)}`.execute(db)
}

const indexes = [
  ['runs_command', 'livehouse_ops.runs (command, finished_at DESC NULLS LAST, run_id DESC)'],
  ['runs_started', 'livehouse_ops.runs (started_at, run_id)'],
  ['job_runs_run', 'livehouse_ops.job_runs (run_id) WHERE run_id IS NOT NULL'],
  // Failed before a run began, such as for want of a setting.
  [
    'job_runs_unbegun',
    `livehouse_ops.job_runs (job, finished_at DESC NULLS LAST) WHERE run_id IS NULL AND status = 'ended'`,
  ],
  // Whoever deletes a run looks here for it.
  ['acceptance_uses_run', 'livehouse_ops.acceptance_uses (run_id)'],
] as const
