import { expect, test } from 'vitest'
import { describeV1Budget } from '../../../src/cli/doctor/check-v1-budget.ts'

const day = { serviceDay: '2026-11-20', budget: 10 }
const spentAt = new Date(0)

test.each([
  [
    { ...day, scope: 'account', scopes: [{ scope: 'account', used: 0, left: 10, spentAt: null }] },
    '10 calls a day for the account; none used on 2026-11-20',
  ],
  [
    { ...day, scope: 'account', scopes: [{ scope: 'account', used: 3, left: 7, spentAt: null }] },
    '10 calls a day for the account; 7 left on 2026-11-20',
  ],
  [
    { ...day, scope: 'channel', scopes: [{ scope: 'channel=9', used: 4, left: 0, spentAt }] },
    '10 calls a day for each channel; channel=9 0 left on 2026-11-20, the service refused more',
  ],
] as const)('%j', (budget, seen) => {
  expect(describeV1Budget(budget)).toEqual({ name: '4.6 budget', result: 'ok', seen, mend: null })
})
