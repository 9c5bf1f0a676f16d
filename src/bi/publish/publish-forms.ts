import { type Kysely, sql } from 'kysely'
import { FORMS_SCHEMA, formsSchemaWords } from '../form-view.ts'
import { quoteText } from '../quote.ts'
import type { Database } from '../../store/database.ts'
import { hasCode } from '../../core/errors.ts'
import { withMigrationLock } from '../../store/migration-lock.ts'
import { dependentsIn } from './dependents-in.ts'
import { type BiState, readBiState } from './read-bi-state.ts'
import { planForms } from './plan-forms.ts'

const MISSING_RIGHT = '42501'
const LOCK_NOT_AVAILABLE = '55P03'

/** What came of it: the views that were made, and what stopped one, as sentences for a person. */
export interface FormsOutcome {
  readonly made: readonly string[]
  readonly notices: readonly string[]
}

/** Makes the views of the published questionnaires what their headers are now; nothing is done where they are so already. */
export async function publishForms(db: Kysely<Database>, signal?: AbortSignal): Promise<FormsOutcome> {
  const { rows } = await sql`select from livehouse_ops.published_forms limit 1`.execute(db)
  if (rows.length === 0) return { made: [], notices: [] }
  const state = await readBiState(db)
  const schema = await planSchema(db, state)
  const made: string[] = []
  const notices: string[] = []
  for (const { view, statements: plan } of await planForms(db, state)) {
    try {
      const statements = [...schema, ...plan].join(';\n')
      await withMigrationLock(db, signal, async (transaction) => await sql.raw(statements).execute(transaction))
      made.push(view)
    } catch (error) {
      const reason = reasonOf(error)
      if (reason === undefined) throw error
      notices.push(`The view ${FORMS_SCHEMA}.${view} is not up to date: ${reason}.`)
    }
  }
  return { made, notices }
}

/** A DBA may have made the schema for this user, who may then not make one, nor describe that of somebody else. */
async function planSchema(db: Kysely<Database>, { language }: BiState): Promise<readonly string[]> {
  const { rows } = await sql<{ isOwn: boolean }>`
    select pg_has_role(nspowner, 'usage') as "isOwn" from pg_namespace where nspname = ${FORMS_SCHEMA}`.execute(db)
  const describe = `comment on schema ${FORMS_SCHEMA} is ${quoteText(formsSchemaWords[language])}`
  if (rows[0] === undefined) return [`create schema if not exists ${FORMS_SCHEMA}`, describe]
  return rows[0].isOwn ? [describe] : []
}

function reasonOf(error: unknown): string | undefined {
  if (hasCode(error, 'db.refused') && error.details.sqlState === MISSING_RIGHT) {
    return (
      `${error.details.reason}. Let a DBA run \`create schema ${FORMS_SCHEMA} authorization USER\` with the user of ` +
      'DATABASE_URL, who also has to own the tables of livehouse'
    )
  }
  if (hasCode(error, 'db.refused') && error.details.sqlState === LOCK_NOT_AVAILABLE) return error.details.reason
  const dependents = dependentsIn(error)
  if (dependents === undefined) return undefined
  return `its questions have changed, and ${dependents} stands on it. Keep its definition (pg_get_viewdef), drop it, run any command, create it again`
}
