import type { Kysely } from 'kysely'
import type { Connection } from '../../api/connect.ts'
import type { RunOutcome } from '../../core/outcome.ts'
import type { Database } from '../../db/database.ts'

/** What the runs of jobs share. */
export interface JobDeps {
  readonly db: Kysely<Database>
  /** Undefined where each run has its own. */
  readonly connection?: Pick<Connection, 'fetchPage'>
  /** Hears what came of each run. */
  readonly onOutcome?: (outcome: RunOutcome) => void
}
