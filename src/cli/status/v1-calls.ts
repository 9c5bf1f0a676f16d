import { onlyWhenNamed } from '../../streams/registry.ts'
import { formatWallMinute, formatWallTime, wallTimeAt } from '../../core/wall-clock.ts'
import type { BegunSlice } from '../../ledger/open-slices.ts'
import type { CallBudget, ScopeBudget } from '../../ledger/call-budget.ts'

/** What is left of the day's calls on version 1, and what is half read. */
export interface V1Calls {
  readonly budget: CallBudget
  readonly begun: readonly BegunSlice[]
}

/** For a person; times are those of the service's wall clock. */
export function describeV1Calls({ budget, begun }: V1Calls, timeZone: string): string[] {
  const minute = (at: Date) => formatWallTime(wallTimeAt(at.getTime(), timeZone)).slice(0, 16)
  return [
    `calls left on ${onlyWhenNamed} today (${budget.serviceDay}): ${leftOf(budget)}`,
    ...begun.map(({ stream, partition, window, pagesRead, rows, readAt }) => {
      const range = `from ${formatWallMinute(window.from)} to ${formatWallMinute(window.to)}`
      return `half read: ${stream} ${partition} ${range}, ${pagesRead} pages with ${rows} rows, the last at ${minute(readAt)}; the next run that names ${stream} goes on`
    }),
  ]
}

/** `7 of 10`; by channel those that have used some, then the others. */
export function leftOf({ budget, scope, scopes }: CallBudget): string {
  const refused = (each: ScopeBudget) => (each.spentAt === null ? '' : ' (the service has refused a further one)')
  const account = scopes.find((each) => each.scope === 'account')
  if (scope === 'account') return account ? `${account.left} of ${budget}${refused(account)}` : `${budget} of ${budget}`
  const named = scopes.filter((each) => each !== account)
  const parts = named.map((each) => `${each.scope} ${each.left} of ${budget}${refused(each)}`)
  const others = [`${named.length === 0 ? 'each' : 'each other'} channel ${account?.left ?? budget}`]
  return [...parts, ...others].join(', ')
}

/** For programs. */
export function v1CallsObject({ budget, begun }: V1Calls): Readonly<Record<string, unknown>> {
  return {
    v1_calls: {
      service_day: budget.serviceDay,
      budget: budget.budget,
      scope: budget.scope,
      scopes: budget.scopes.map(({ scope, used, left, spentAt }) => {
        return { scope, used, left, spent_at: spentAt?.toISOString() ?? null }
      }),
    },
    half_read: begun.map(({ stream, partition, window, pagesRead, rows, startedAt, readAt }) => ({
      stream,
      partition,
      from: formatWallTime(window.from),
      to: formatWallTime(window.to),
      pages: pagesRead,
      rows,
      started_at: startedAt.toISOString(),
      read_at: readAt.toISOString(),
    })),
  }
}
