import { expect, test } from 'vitest'
import { emptyBiState, planPublication } from '../../../src/bi/publish/plan-publication.ts'

const plan = (changes: Partial<Parameters<typeof planPublication>[0]>) =>
  planPublication({ ...emptyBiState('Asia/Shanghai'), ...changes }).join('\n')

test('roles are made where they may be, and granted what is there', () => {
  expect(plan({})).toMatch(
    /create role livehouse_analyst nologin[^]*grant usage on schema livehouse_bi to livehouse_analyst, livehouse_pii/,
  )
  expect(plan({ mayCreateRoles: false })).not.toMatch(/create role|grant/)
  expect(plan({ mayCreateRoles: false, roles: ['livehouse_analyst'] })).toMatch(
    /grant usage on schema livehouse_bi to livehouse_analyst$/m,
  )
})

test('the name of a zone cannot leave its quotes', () => {
  expect(plan({ timeZone: "x'; drop" })).toContain("at time zone 'x''; drop'")
})
