import { hasCode } from './errors.ts'
import type { RunProblem } from './outcome.ts'

/** Why the database refused, for the record of a problem; nothing of other errors. */
export function sqlStateOf(error: unknown): Pick<RunProblem, 'sqlState'> {
  return hasCode(error, 'db.refused') ? { sqlState: error.details.sqlState } : {}
}
