import { type Kysely, sql } from 'kysely'
import { FORMS_SCHEMA } from '../form-view.ts'
import { quoteName } from '../quote.ts'
import { SCHEMA } from '../view-statements.ts'
import type { Database } from '../../store/database.ts'
import { planForms } from './publish-forms.ts'
import { planPublication } from './plan-publication.ts'
import { readBiState } from './bi-state.ts'

/** How the analysts' views stand beside what this livehouse declares. */
export interface PendingBi {
  /** `outdated`: a view, its words or its grants differ. */
  readonly views: 'current' | 'outdated' | 'missing'
  /** Views in `livehouse_forms` that are not what the headers of their questionnaire are. */
  readonly forms: readonly string[]
  /** Views of somebody else on those that would have to be made anew. */
  readonly inTheWay: readonly string[]
  /** Kinds of personal data that are masked. */
  readonly masked: readonly string[]
}

/** Asks the catalog; changes nothing. */
export async function readPendingBi(db: Kysely<Database>): Promise<PendingBi> {
  const state = await readBiState(db)
  const publication = planPublication(state)
  const forms = await planForms(db, state)
  const isDropped = (statements: readonly string[]) => statements.some((statement) => statement.startsWith('drop view'))
  const dropped = [
    ...(isDropped(publication) ? [...state.views.keys()].map((view) => `${SCHEMA}.${view}`) : []),
    ...forms.filter((form) => isDropped(form.statements)).map(({ view }) => `${FORMS_SCHEMA}.${quoteName(view)}`),
  ]
  const { rows } = await sql<{ masked: readonly string[] }>`select masked from livehouse_ops.bi_settings`.execute(db)
  return {
    masked: rows.flatMap((row) => row.masked),
    views: publication.length === 0 ? 'current' : state.views.size === 0 ? 'missing' : 'outdated',
    forms: forms.map(({ view }) => view),
    inTheWay: dropped.length === 0 ? [] : await readDependents(db, dropped),
  }
}

/** What of others rests on these views. */
async function readDependents(db: Kysely<Database>, views: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct c.oid::regclass::text as name
    from unnest(${views}::text[]) own (name) join pg_depend d on d.refobjid = to_regclass(own.name) and d.refclassid = 'pg_class'::regclass
      join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid join pg_class c on c.oid = r.ev_class
    where not exists (select from unnest(${views}::text[]) o (name) where to_regclass(o.name) = c.oid) order by 1`.execute(
    db,
  )
  return rows.map(({ name }) => name)
}
