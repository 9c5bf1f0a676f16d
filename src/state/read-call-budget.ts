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
  /**
   * One for the account; of channels those that have used some, the others have all of theirs. Where calls of the day were
   * charged to the account before, `account` is what is left to each other channel.
   */
  readonly scopes: readonly ScopeBudget[]
}

/** What is left today; where each channel has its own, of the one with least. */
export function smallestLeft({ budget, scopes }: CallBudget): number {
  return Math.min(budget, ...scopes.map(({ left }) => left))
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
  const question = sql<Charged>`
    select scope, service_day::text, calls, spent_at from livehouse_ops.call_budget
    where service_day >= ${today}::date order by scope`
  const rows = db === undefined ? [] : (await question.execute(db)).rows
  const names = v1BudgetScope === 'account' ? ['account'] : [...new Set(rows.map(({ scope }) => scope))]
  const read = names.map((name) => {
    // The same rows count as when a call is taken.
    const counted = rows.filter(({ scope }) => v1BudgetScope === 'account' || scope === name || scope === 'account')
    return { name, ...latestDayOf(counted, today) }
  })
  const scopes = read.map(({ name, calls, spentAt }) => {
    return { scope: name, used: calls, left: spentAt === null ? Math.max(0, v1Budget - calls) : 0, spentAt }
  })
  const serviceDay = read[0]?.serviceDay ?? today
  return { serviceDay, budget: v1Budget, scope: v1BudgetScope, scopes }
}

interface Charged {
  readonly scope: string
  readonly service_day: string
  readonly calls: number
  readonly spent_at: Date | null
}

function latestDayOf(rows: readonly Charged[], today: string) {
  const serviceDay = rows.reduce((latest, row) => (row.service_day > latest ? row.service_day : latest), today)
  const ofDay = rows.filter((row) => row.service_day === serviceDay)
  const calls = ofDay.reduce((sum, row) => sum + row.calls, 0)
  return { serviceDay, calls, spentAt: ofDay.find((row) => row.spent_at !== null)?.spent_at ?? null }
}
