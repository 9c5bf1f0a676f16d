import { type Insertable, sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import type { Reserve } from '../core/shared-calls.ts'
import { formatWallDate, wallTimeAt } from '../core/wall-clock.ts'
import type { Database, Db } from '../store/database.ts'
import { setLocal } from '../store/driver.ts'
import { lockName } from '../store/lock-name.ts'

/** The settings of the same names, and the zone of the service's day. */
export interface BudgetSettings {
  readonly v1Budget: number
  readonly v1BudgetScope: 'account' | 'channel'
  readonly timeZone: string
}

/** No call is made this close to the service's midnight, as clocks differ a little and an answer takes time. */
const DISTANCE_SECONDS = 300

/**
 * Creates the function that reserves each call of 4.6 before it is made, in a transaction of its own: no failure, crash
 * or other process can overspend a day, and no call is given back. A clock that goes back opens no new day: calls are
 * charged to the latest day on record. If that day is ahead of the clocks of the service, this machine and the
 * database, it was recorded under a wrong clock, and its calls are charged to the latest day that one of them shows.
 * @throws LivehouseError `api.budgetSpent`
 */
export function callBudget(
  db: Db,
  { v1Budget, v1BudgetScope, timeZone }: BudgetSettings,
  clock: Pick<Clock, 'now'>,
): Reserve {
  const dayAt = (ms: number) => formatWallDate(wallTimeAt(ms, timeZone))
  return async (channelId, atMs, signal) => {
    signal.throwIfAborted()
    const scope = v1BudgetScope === 'account' ? 'account' : `channel=${channelId}`
    const shownDay = dayAt(atMs)
    // Compares days rather than times of day: where daylight saving begins at 0:00, that day has no midnight.
    const isBeforeMidnight = dayAt(atMs + DISTANCE_SECONDS * 1000) !== shownDay
    const isAfterMidnight = !isBeforeMidnight && dayAt(atMs - DISTANCE_SECONDS * 1000) !== shownDay
    const isNearMidnight = isBeforeMidnight || isAfterMidnight
    const ownDay = dayAt(Math.max(atMs, clock.now()))
    // The builder has no `at time zone`.
    const lastDay = sql<string>`greatest(${ownDay}::date, (now() at time zone ${timeZone})::date)`
    const { isTaken, serviceDay, resumesAt } = await db
      .transaction()
      .setIsolationLevel('read committed')
      .execute(async (trx) => {
        // One reservation at a time: every statement below sees what others have committed.
        await lockName(trx, 'call budget')
        // A reserved call must survive a crash, even if the database acknowledges commits before they are on disk.
        await setLocal(trx, { synchronous_commit: 'on' })
        const futureDays = await trx
          .deleteFrom(TABLE)
          .where('service_day', '>', lastDay)
          .returning(['scope', 'calls', 'first_call_at', 'last_call_at', 'spent_at', lastDay.as('service_day')])
          .execute()
        for (const calls of futureDays) await charge(trx, calls)
        const { serviceDay, left } = countCalls(await readCharged(trx, shownDay), scope, shownDay, v1Budget)
        const isTaken = left > 0 && !isNearMidnight
        const at = new Date(atMs)
        const call = { scope, service_day: serviceDay, calls: 1, first_call_at: at, last_call_at: at }
        if (isTaken) await charge(trx, call)
        const days = isAfterMidnight && serviceDay === shownDay ? 0 : 1
        const { rows } = await sql<{ resumesAt: Date }>`
          select (${serviceDay}::date + ${days}::integer + make_interval(secs => ${DISTANCE_SECONDS}))
            at time zone ${timeZone} as "resumesAt"`.execute(trx)
        return { isTaken, serviceDay, resumesAt: rows[0]?.resumesAt.toISOString() ?? '' }
      })
    if (isTaken) return { scope, serviceDay, resumesAt, spendDay: async () => await spendDay(db, scope, serviceDay) }
    const note = shownDay < serviceDay ? `, although the clock shows ${shownDay}` : ''
    const why = isNearMidnight
      ? `no call is made within ${DISTANCE_SECONDS / 60} minutes of the service's midnight`
      : `the ${v1Budget} calls of ${serviceDay} are spent (${scope})${note}`
    const message = `channel ${channelId}: ${why}; livehouse continues at ${resumesAt}`
    throw new LivehouseError('api.budgetSpent', message, { scope, resumesAt })
  }
}

const TABLE = 'livehouse_ops.call_budget'

async function charge(trx: Db, calls: Insertable<Database[typeof TABLE]>): Promise<void> {
  await trx
    .insertInto(TABLE)
    .values(calls)
    .onConflict((conflict) =>
      conflict.columns(['scope', 'service_day']).doUpdateSet((eb) => ({
        calls: eb(`${TABLE}.calls`, '+', eb.ref('excluded.calls')),
        last_call_at: eb.ref('excluded.last_call_at'),
        spent_at: eb.fn.coalesce(`${TABLE}.spent_at`, 'excluded.spent_at'),
      })),
    )
    .execute()
}

async function spendDay(db: Db, scope: string, serviceDay: string): Promise<void> {
  await db
    .updateTable(TABLE)
    .set(({ fn }) => ({ spent_at: fn.coalesce('spent_at', 'last_call_at') }))
    .where('scope', '=', scope)
    .where('service_day', '=', serviceDay)
    .execute()
}

/** The calls charged to a day and to any later day on record, in order. */
async function readCharged(db: Db, day: string) {
  const since = db
    .selectFrom(TABLE)
    .select(['scope', 'service_day', 'calls', 'spent_at'])
    .where('service_day', '>=', day)
  return await since.orderBy('service_day').orderBy('scope').execute()
}

/**
 * What a scope has left of the latest day on record. A call of a channel counts towards the account too, and a call of
 * the account towards every channel: otherwise a change of the setting would allow the calls of a day twice.
 */
function countCalls(charged: Awaited<ReturnType<typeof readCharged>>, scope: string, today: string, budget: number) {
  const relevant = charged.filter((row) => scope === 'account' || row.scope === scope || row.scope === 'account')
  const serviceDay = relevant.at(-1)?.service_day ?? today
  const ofDay = relevant.filter((row) => row.service_day === serviceDay)
  const used = ofDay.reduce((sum, { calls }) => sum + calls, 0)
  const spentAt = ofDay.find(({ spent_at }) => spent_at !== null)?.spent_at ?? null
  // `spentAt`: when the service itself refused a further call; null if it has not.
  return { serviceDay, scope, used, left: spentAt === null ? Math.max(0, budget - used) : 0, spentAt }
}

/** What is left of a day's calls on 4.6. */
export type CallBudget = Awaited<ReturnType<typeof readCallBudget>>

/** Calls left today; if each channel has its own budget, those of the channel with the fewest. */
export function fewestCallsLeft({ budget, scopes }: CallBudget): number {
  return Math.min(budget, ...scopes.map(({ left }) => left))
}

/** What is left of the calls on 4.6 at `nowMs` (milliseconds since 1970, by this machine's clock). Calls nothing. */
export async function readCallBudget(db: Db, { v1Budget, v1BudgetScope, timeZone }: BudgetSettings, nowMs: number) {
  const today = formatWallDate(wallTimeAt(nowMs, timeZone))
  const charged = await readCharged(db, today)
  const names = v1BudgetScope === 'account' ? ['account'] : [...new Set(charged.map(({ scope }) => scope))].sort()
  const days = names.map((scope) => countCalls(charged, scope, today, v1Budget))
  const scopes = days.map(({ scope, used, left, spentAt }) => ({ scope, used, left, spentAt }))
  return {
    serviceDay: days[0]?.serviceDay ?? today,
    budget: v1Budget,
    /** Whether all channels share the calls, or each has its own. */
    scope: v1BudgetScope,
    /**
     * One entry for the account, or one for each channel that has used calls; any other channel has all of its calls.
     * If the account was charged with calls of the day before, `account` is what each other channel has left.
     */
    scopes,
  }
}
