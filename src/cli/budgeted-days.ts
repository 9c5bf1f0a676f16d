import { DAY, formatWallDate, parseWallTime } from '../core/wall-clock.ts'
import type { StreamEstimate } from '../pipeline/estimate-calls.ts'
import type { CallBudget } from '../state/read-call-budget.ts'
import { leftOf } from './status/v1-calls.ts'

type CallsOf = NonNullable<StreamEstimate['callsOf']>

/** How long a stream takes of which only some calls a day may be made, for a person; nothing for any other. */
export function describeDays({ stream, callsOf, calls, isAtLeast }: StreamEstimate, budget: CallBudget): string[] {
  if (callsOf === undefined || callsOf.size === 0) return []
  const days = daysUntilDone(callsOf, budget)
  if (days === undefined) return [`${stream}: LIVEHOUSE_V1_BUDGET is ${budget.budget}, so it never comes to its end`]
  const floor = isAtLeast ? 'at least ' : ''
  const whose = budget.scope === 'account' ? '' : ' for each channel'
  return [
    `${stream}: ${floor}${days} ${days === 1 ? 'day' : 'days'}, until ${dateAfter(days, budget)}: ${floor}${calls} calls at ${budget.budget} a day${whose} (left today: ${leftOf(budget)})`,
    ...(isAtLeast
      ? ['  The service tells no total here: how many pages there are shows when the last one has come.']
      : []),
  ]
}

/** For programs: days of the service, today included, and the last of them; null where it never ends. */
export function daysObject(callsOf: CallsOf, budget: CallBudget): Readonly<Record<string, unknown>> {
  const days = daysUntilDone(callsOf, budget)
  return { calls_a_day: budget.budget, days: days ?? null, last_day: lastDayOf(callsOf, budget) ?? null }
}

/** The service's day on which the last of these calls can be made, `YYYY-MM-DD`; undefined where there is none. */
export function lastDayOf(callsOf: CallsOf, budget: CallBudget): string | undefined {
  const days = daysUntilDone(callsOf, budget)
  return days === undefined ? undefined : dateAfter(days, budget)
}

/**
 * Today included. Where each channel has calls of its own, none waits for another. But for the first day, the first call of each looks
 * at the page where the day before stopped.
 */
function daysUntilDone(callsOf: CallsOf, { budget, scope, scopes }: CallBudget): number | undefined {
  const leftOfScope = (name: string) => scopes.find((each) => each.scope === name)?.left
  const leftToday = (name: string) => leftOfScope(name) ?? leftOfScope('account') ?? budget
  const total = [...callsOf.values()].reduce((sum, calls) => sum + calls, 0)
  const needs = scope === 'account' ? [['account', total] as const] : [...callsOf]
  const later = needs.map(([name, calls]) => {
    const left = leftToday(name)
    if (calls <= left) return 0
    return Number(left === 0) + Math.ceil(Math.max(0, calls - (left || budget)) / Math.max(0, budget - 1))
  })
  const most = Math.max(0, ...later)
  return Number.isFinite(most) ? most + 1 : undefined
}

function dateAfter(days: number, { serviceDay }: CallBudget): string {
  return formatWallDate((parseWallTime(serviceDay) ?? 0) + (days - 1) * DAY)
}
