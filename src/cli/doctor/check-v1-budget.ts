import type { CallBudget } from '../../state/read-call-budget.ts'
import { type Check, passed } from './check.ts'

/** What is left of the day's calls on version 1 of the watch records. */
export function describeV1Budget({ serviceDay, budget, scope, scopes }: CallBudget): Check {
  const name = '4.6 budget'
  const all = `${budget} calls a day ${scope === 'account' ? 'for the account' : 'for each channel'}`
  const nameOf = (whose: string) =>
    whose !== 'account' ? `${whose} ` : scope === 'account' ? '' : 'each other channel '
  const used = scopes
    .filter(({ used: calls, spentAt }) => calls > 0 || spentAt !== null)
    .map(({ scope: whose, left, spentAt }) => {
      const refused = spentAt === null ? '' : ', the service refused more'
      return `${nameOf(whose)}${left} left on ${serviceDay}${refused}`
    })
  return passed(name, `${all}; ${used.length === 0 ? `none used on ${serviceDay}` : used.join('; ')}`)
}
