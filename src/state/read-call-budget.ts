import { type Kysely, sql } from 'kysely'
import { formatWallDate, wallTimeAt } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'
import type { BudgetSettings } from './call-budget.ts'

/** The calls of one scope. */
export interface ScopeBudget {
  /** `account`, or `channel=9`. */
  readonly scope: string
  readonly used: number
  readonly left: number
  /** When the service itself refused a further call; null where it has not. */
  readonly spentAt: Date | null
}

/** What is left of a day's calls on 4.6. */
export interface CallBudget {
  /** `YYYY-MM-DD`. */
  readonly serviceDay: string
  /** Calls a day. */
  readonly budget: number
  /** Whom they belong to. */
  readonly scope: BudgetSettings['v1BudgetScope']
  /** One for the account; of channels those that have used some, the others have all of theirs. */
  readonly scopes: readonly ScopeBudget[]
}

/**
 * What is left of the calls on 4.6 at `nowMs` (milliseconds since 1970, by this machine's clock: nothing is asked). `db`:
 * undefined for a database without a schema.
 */
export async function readCallBudget(
  db: Kysely<Database> | undefined,
  { v1Budget, v1BudgetScope, timeZone }: BudgetSettings,
  nowMs: number,
): Promise<CallBudget> {
  const today = formatWallDate(wallTimeAt(nowMs, timeZone))
  const ofScope = v1BudgetScope === 'account' ? sql`scope = 'account'` : sql`scope <> 'account'`
  const question = sql<{ scope: string; service_day: string; calls: number; spent_at: Date | null }>`
    select distinct on (scope) scope, service_day::text, calls, spent_at from livehouse_ops.call_budget
    where service_day >= ${today}::date and ${ofScope} order by scope, service_day desc`
  const rows = db === undefined ? [] : (await question.execute(db)).rows
  const used = rows.map(({ scope, calls, spent_at: spentAt }) => {
    return { scope, used: calls, left: spentAt === null ? Math.max(0, v1Budget - calls) : 0, spentAt }
  })
  const untouched = { scope: 'account', used: 0, left: v1Budget, spentAt: null }
  const scopes = v1BudgetScope === 'account' && used.length === 0 ? [untouched] : used
  return { serviceDay: rows[0]?.service_day ?? today, budget: v1Budget, scope: v1BudgetScope, scopes }
}
