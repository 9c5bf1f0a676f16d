import assert from 'node:assert/strict'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import { formatWallDate, wallTimeAt } from '../core/wall-clock.ts'
import type { Database } from '../store/database.ts'
import { lockName } from '../store/lock-name.ts'

/** The settings of the same names, and the zone of the service's day. */
export interface BudgetSettings {
  readonly v1Budget: number
  readonly v1BudgetScope: 'account' | 'channel'
  readonly timeZone: string
}

/** One call of the service day that has been taken. */
export interface TakenCall {
  readonly scope: string
  readonly serviceDay: string
  /** ISO instant of the next day's first call. */
  readonly resumesAt: string
  /** Nothing more is taken of this day, whatever the count says. */
  readonly spendDay: () => Promise<void>
}

/** No call is made within so long of the service's midnight: clocks differ a little, and an answer takes its time. */
const DISTANCE_SECONDS = 300

/**
 * The rows that count towards what is left of a scope: every call is one of the account too, and those of the account may have
 * been for any channel. Else another setting would give a day's calls once more.
 */
function countsFor(scope: string): RawBuilder<unknown> {
  return scope === 'account' ? sql`true` : sql`scope in (${scope}, 'account')`
}

/** Whom a call for this channel is charged to: `account`, or `channel=9`. */
export function budgetScope(scope: BudgetSettings['v1BudgetScope'], channelId: string): string {
  return scope === 'account' ? 'account' : `channel=${channelId}`
}

/**
 * Takes calls of 4.6 before they are made, each in a transaction of its own and one at a time: no failure, crash or other
 * process can overspend a day, and nothing is ever given back. `atMs` is what the service's clock shows. A clock that has gone back gets no fresh day:
 * what is taken belongs to the latest day on record. Calls of a day that it, this machine's clock and the database's, which all
 * machines share, have yet to reach were made under a wrong clock, and count as calls of the latest of the three days.
 * @throws LivehouseError `api.budgetSpent`
 */
export function callBudget(
  db: Kysely<Database>,
  { v1Budget, v1BudgetScope, timeZone }: BudgetSettings,
  clock: Pick<Clock, 'now'>,
): (channelId: string, atMs: number, signal: AbortSignal) => Promise<TakenCall> {
  const dayAt = (ms: number) => formatWallDate(wallTimeAt(ms, timeZone))
  return async (channelId, atMs, signal) => {
    signal.throwIfAborted()
    const scope = budgetScope(v1BudgetScope, channelId)
    const shownDay = dayAt(atMs)
    // By the days on either side and not by the time of day: where daylight saving begins at 0:00, a day has no midnight.
    const isBeforeMidnight = dayAt(atMs + DISTANCE_SECONDS * 1000) !== shownDay
    const isAfterMidnight = !isBeforeMidnight && dayAt(atMs - DISTANCE_SECONDS * 1000) !== shownDay
    const isNearMidnight = isBeforeMidnight || isAfterMidnight
    const lastDay = sql`greatest(${dayAt(Math.max(atMs, clock.now()))}::date, (now() at time zone ${timeZone})::date)`
    const at = new Date(atMs)
    const counts = countsFor(scope)
    // Counted and committed durably before it returns, also where the database is told to be quick about commits.
    const taken = await db
      .transaction()
      .setIsolationLevel('read committed')
      .execute(async (trx) => {
        // Before the statement that counts, which sees what is committed when it begins: the scopes have no row in common.
        await lockName(trx, 'call budget')
        await sql`
          with ahead as (delete from livehouse_ops.call_budget where service_day > ${lastDay} returning *)
          insert into livehouse_ops.call_budget as budget (scope, service_day, calls, first_call_at, last_call_at, spent_at)
          select scope, ${lastDay}, sum(calls), min(first_call_at), max(last_call_at), max(spent_at) from ahead group by scope
          on conflict (scope, service_day) do update
          set calls = budget.calls + excluded.calls, spent_at = coalesce(budget.spent_at, excluded.spent_at)`.execute(
          trx,
        )
        const { rows } = await sql<{ isTaken: boolean; serviceDay: string; resumesAt: Date }>`
          with charged as materialized (
            select greatest(max(service_day), ${shownDay}::date) as day,
              case current_setting('synchronous_commit')
                when 'off' then set_config('synchronous_commit', 'on', true) end as durable
            from livehouse_ops.call_budget where ${counts}
          ),
          used as (
            select coalesce(sum(calls), 0) as calls, coalesce(bool_or(spent_at is not null), false) as is_spent
            from livehouse_ops.call_budget where ${counts} and service_day = (select day from charged)
          ),
          taken as (
            insert into livehouse_ops.call_budget as budget (scope, service_day, calls, first_call_at, last_call_at)
            select ${scope}, day, 1, ${at}, ${at} from charged, used
            where used.calls < ${v1Budget} and not is_spent and not ${isNearMidnight}
            on conflict (scope, service_day) do update set calls = budget.calls + 1, last_call_at = excluded.last_call_at
            where budget.calls < ${v1Budget} and budget.spent_at is null
            returning service_day
          )
          select exists (select from taken) as "isTaken", day::text as "serviceDay", durable,
            (case when ${isAfterMidnight} and day = ${shownDay}::date then day else day + 1 end
              + make_interval(secs => ${DISTANCE_SECONDS})) at time zone ${timeZone} as "resumesAt"
          from charged`.execute(trx)
        return rows[0]
      })
    assert(taken)
    const { isTaken, serviceDay } = taken
    const resumesAt = taken.resumesAt.toISOString()
    if (isTaken) return { scope, serviceDay, resumesAt, spendDay: async () => await spendDay(db, scope, serviceDay) }
    const reason = isNearMidnight
      ? `no call is made within ${DISTANCE_SECONDS / 60} minutes of the service's midnight`
      : `the ${v1Budget} calls of ${serviceDay} are spent (${scope})${shownDay < serviceDay ? cameEarlier(shownDay, serviceDay) : ''}`
    const message = `channel ${channelId}: ${reason}; livehouse goes on at ${resumesAt}`
    throw new LivehouseError('api.budgetSpent', message, { scope, serviceDay, resumesAt })
  }
}

async function spendDay(db: Kysely<Database>, scope: string, serviceDay: string): Promise<void> {
  await db
    .updateTable('livehouse_ops.call_budget')
    .set(({ fn }) => ({ spent_at: fn.coalesce('spent_at', 'last_call_at') }))
    .where('scope', '=', scope)
    .where('service_day', '=', serviceDay)
    .execute()
}

function cameEarlier(shown: string, onRecord: string): string {
  return `, although the clock shows ${shown}: a day on record is never taken twice. If a clock was ahead when ${onRecord} was written, delete that row of livehouse_ops.call_budget`
}

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
  const charged =
    (await db
      ?.selectFrom('livehouse_ops.call_budget')
      .select(['scope', 'service_day', 'calls', 'spent_at'])
      .where('service_day', '>=', today)
      .orderBy('service_day')
      .orderBy('scope')
      .execute()) ?? []
  const names = v1BudgetScope === 'account' ? ['account'] : [...new Set(charged.map(({ scope }) => scope))].sort()
  const days = names.map((name) => {
    // The same rows count as when a call is taken.
    const counted = charged.filter(({ scope }) => v1BudgetScope === 'account' || scope === name || scope === 'account')
    const serviceDay = counted.at(-1)?.service_day ?? today
    const ofDay = counted.filter((row) => row.service_day === serviceDay)
    const used = ofDay.reduce((sum, { calls }) => sum + calls, 0)
    const spentAt = ofDay.find(({ spent_at }) => spent_at !== null)?.spent_at ?? null
    return { serviceDay, scope: name, used, left: spentAt === null ? Math.max(0, v1Budget - used) : 0, spentAt }
  })
  const scopes = days.map(({ scope, used, left, spentAt }) => ({ scope, used, left, spentAt }))
  return { serviceDay: days[0]?.serviceDay ?? today, budget: v1Budget, scope: v1BudgetScope, scopes }
}
