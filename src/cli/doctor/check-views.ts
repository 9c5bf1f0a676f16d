import type { Kysely } from 'kysely'
import { FORMS_SCHEMA } from '../../bi/form-view.ts'
import { biViews } from '../../bi/registry.ts'
import { SCHEMA } from '../../bi/view-statements.ts'
import { type BiRights, readBiRights } from '../../db/bi/read-bi-rights.ts'
import { type PendingBi, readPendingBi } from '../../db/bi/read-pending-bi.ts'
import type { Database } from '../../db/database.ts'
import { type Check, passed } from './check.ts'

const UP = '`livehouse migrate up`'
const DBA = 'let a DBA run the output of `livehouse migrate sql`'
const GRANTS = 'let a DBA run the output of `livehouse doctor --grants`'

/** What the views are, and what the user may do about them. */
export interface SeenViews {
  readonly pending: PendingBi
  readonly rights: BiRights
  /** May change the tables, which the views rest on. */
  readonly canMigrate: boolean
  readonly isAutoMigrated: boolean
}

/** The analysts' views and the roles that read them; asks the catalog, changes nothing. */
export async function checkViews(
  db: Kysely<Database>,
  canMigrate: boolean,
  isAutoMigrated: boolean,
): Promise<readonly Check[]> {
  return judgeViews({ pending: await readPendingBi(db), rights: await readBiRights(db), canMigrate, isAutoMigrated })
}

/** Views that are not there are nobody's loss yet; those that are there and differ tell analysts something else than is written. */
export function judgeViews(seen: SeenViews): readonly Check[] {
  return [judgeState(seen), ...judgeRoles(seen)]
}

function judgeState({ pending, rights, canMigrate, isAutoMigrated }: SeenViews): Check {
  const name = 'views'
  const { views, forms, inTheWay, masked } = pending
  const kinds = masked.length === 0 ? 'nothing is masked' : `masked: ${masked.join(', ')}`
  if (views === 'current' && forms.length === 0) {
    return passed(name, `${SCHEMA} has its ${biViews.length} views; ${kinds}`)
  }
  const forWhom = forms.map((view) => `${FORMS_SCHEMA}.${view}`).join(', ')
  const parts = [
    ...(views === 'missing' ? [`${SCHEMA} is not there yet`] : []),
    ...(views === 'outdated' ? [`${SCHEMA} is not that of this livehouse`] : []),
    ...(forms.length > 0 ? [`not up to date with their questionnaires: ${forWhom}`] : []),
  ]
  const result = views === 'missing' && forms.length === 0 ? 'warning' : 'failed'
  const broken = (mend: string): Check => ({ name, result, seen: parts.join('; '), mend })
  if (inTheWay.length > 0) {
    const theirs = inTheWay.join(', ')
    return broken(
      `keep the definition of ${theirs} (pg_get_viewdef), drop it, run ${UP}, create it again: it stands on them`,
    )
  }
  if (!canMigrate) return broken(DBA)
  const closed = [...rights.missingSchemas, ...rights.foreignSchemas, ...rights.foreignViews]
  if (closed.length > 0) return broken(`${GRANTS}: this user may not make or change ${closed.join(', ')}`)
  if (isAutoMigrated) return passed(name, `${parts.join('; ')}; the next sync brings it up to date`)
  return broken(`${UP}, or ${DBA}`)
}

function judgeRoles({ rights: { missingRoles } }: SeenViews): readonly Check[] {
  if (missingRoles.length === 0) return []
  const statements = missingRoles.map((role) => `create role ${role} nologin`).join('; ')
  return [
    {
      name: 'roles',
      result: 'warning',
      seen: `${missingRoles.join(' and ')} are not there, and this user may not create roles: nobody else reads ${SCHEMA}`,
      mend: `let a DBA run: ${statements}; the next command grants them what they read`,
    },
  ]
}
