import { dateAfter, daysUntilDone, lastDayOf } from '../app/last-day.ts'
import type { StreamEstimate } from '../pipeline/estimate-calls.ts'
import type { CallBudget } from '../state/call-budget.ts'
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
