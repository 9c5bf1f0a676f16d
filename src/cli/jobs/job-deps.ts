import type { Kysely } from 'kysely'
import type { RunOutcome } from '../../core/outcome.ts'
import type { Database } from '../../db/database.ts'
import type { RunConnection } from '../run-extraction.ts'

/** What came of a run of a job, as its command would show it. */
export interface JobResult {
  readonly outcome: RunOutcome
  /** For a person. */
  readonly describe: () => readonly string[]
  /** The object that `--json` prints. */
  readonly toObject: () => Readonly<Record<string, unknown>>
}

/** What the runs of jobs share. */
export interface JobDeps {
  readonly db: Kysely<Database>
  readonly connection: RunConnection
  /** Hears what came of each run. */
  readonly onResult?: (result: JobResult) => void
}
