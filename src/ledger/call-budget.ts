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
  settings: BudgetSettings,
  clock: Pick<Clock, 'now'>,
): (channelId: string, atMs: number, signal: AbortSignal) => Promise<TakenCall> {
  return async (channelId, atMs, signal) => {
    signal.throwIfAborted()
    const scope = budgetScope(settings.v1BudgetScope, channelId)
    const day = serviceDayAt(atMs, settings.timeZone)
    const latestDay = formatWallDate(wallTimeAt(Math.max(atMs, clock.now()), settings.timeZone))
    const taking = { ...settings, scope, at: new Date(atMs), latestDay, ...day }
    const { isTaken, serviceDay, resumesAt } = await takeCall(db, taking)
    if (isTaken) return { scope, serviceDay, resumesAt, spendDay: async () => await spendDay(db, scope, serviceDay) }
    const reason =
      day.atMidnight !== undefined
        ? `no call is made within ${DISTANCE_SECONDS / 60} minutes of the service's midnight`
        : `the ${settings.v1Budget} calls of ${serviceDay} are spent (${scope})${day.serviceDay < serviceDay ? cameEarlier(day.serviceDay, serviceDay) : ''}`
    const message = `channel ${channelId}: ${reason}; livehouse goes on at ${resumesAt}`
    throw new LivehouseError('api.budgetSpent', message, { scope, serviceDay, resumesAt })
  }
}

interface ServiceDay {
  readonly serviceDay: string
  /** On which side of the service's midnight, where it is near. */
  readonly atMidnight: 'before' | 'after' | undefined
}

function serviceDayAt(atMs: number, timeZone: string): ServiceDay {
  const dayAt = (ms: number) => formatWallDate(wallTimeAt(ms, timeZone))
  const serviceDay = dayAt(atMs)
  // By the days on either side and not by the time of day: where daylight saving begins at 0:00, a day has no midnight.
  if (dayAt(atMs + DISTANCE_SECONDS * 1000) !== serviceDay) return { serviceDay, atMidnight: 'before' }
  const isAfter = dayAt(atMs - DISTANCE_SECONDS * 1000) !== serviceDay
  return { serviceDay, atMidnight: isAfter ? 'after' : undefined }
}

interface Taking extends BudgetSettings, ServiceDay {
  readonly scope: string
  readonly at: Date
  /** By the service's clock or this machine's, whichever is later. */
  readonly latestDay: string
}

interface Taken {
  readonly isTaken: boolean
  readonly serviceDay: string
  readonly resumesAt: string
}

/** Counted and committed durably before it returns, also where the database is told to be quick about commits. */
async function takeCall(db: Kysely<Database>, taking: Taking): Promise<Taken> {
  const { scope, serviceDay, latestDay, at, v1Budget, timeZone, atMidnight } = taking
  const counts = countsFor(scope)
  const lastDay = sql`greatest(${latestDay}::date, (now() at time zone ${timeZone})::date)`
  const transaction = db.transaction().setIsolationLevel('read committed')
  const rows = await transaction.execute(async (trx) => {
    // Before the statement that counts, which sees what is committed when it begins: the scopes have no row in common.
    await lockName(trx, 'call budget')
    await sql`
    with ahead as (delete from livehouse_ops.call_budget where service_day > ${lastDay} returning *)
    insert into livehouse_ops.call_budget as budget (scope, service_day, calls, first_call_at, last_call_at, spent_at)
    select scope, ${lastDay}, sum(calls), min(first_call_at), max(last_call_at), max(spent_at) from ahead group by scope
    on conflict (scope, service_day) do update
    set calls = budget.calls + excluded.calls, spent_at = coalesce(budget.spent_at, excluded.spent_at)`.execute(trx)
    const result = await sql<{ is_taken: boolean; service_day: string; resumes_at: Date }>`
    with charged as materialized (
      select greatest(max(service_day), ${serviceDay}::date) as day,
        case current_setting('synchronous_commit') when 'off' then set_config('synchronous_commit', 'on', true) end as durable
      from livehouse_ops.call_budget where ${counts}
    ),
    used as (
      select coalesce(sum(calls), 0) as calls, coalesce(bool_or(spent_at is not null), false) as is_spent
      from livehouse_ops.call_budget where ${counts} and service_day = (select day from charged)
    ),
    taken as (
      insert into livehouse_ops.call_budget as budget (scope, service_day, calls, first_call_at, last_call_at)
      select ${scope}, day, 1, ${at}, ${at} from charged, used
      where used.calls < ${v1Budget} and not is_spent and ${atMidnight === undefined}
      on conflict (scope, service_day) do update set calls = budget.calls + 1, last_call_at = excluded.last_call_at
      where budget.calls < ${v1Budget} and budget.spent_at is null
      returning service_day
    )
    select exists (select from taken) as is_taken, day::text as service_day, durable,
      (case when ${atMidnight === 'after'} and day = ${serviceDay}::date then day else day + 1 end
        + make_interval(secs => ${DISTANCE_SECONDS})) at time zone ${timeZone} as resumes_at
    from charged`.execute(trx)
    return result.rows
  })
  const [row] = rows
  return {
    isTaken: row?.is_taken ?? false,
    serviceDay: row?.service_day ?? serviceDay,
    resumesAt: row?.resumes_at.toISOString() ?? '',
  }
}

async function spendDay(db: Kysely<Database>, scope: string, serviceDay: string): Promise<void> {
  await sql`
    update livehouse_ops.call_budget set spent_at = coalesce(spent_at, last_call_at)
    where scope = ${scope} and service_day = ${serviceDay}::date`.execute(db)
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
