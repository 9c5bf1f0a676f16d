import { describe, expect, test } from 'vitest'
import { judgeWalk } from '../../src/sync/judge-walk.ts'
import type { Totals, WalkSummary } from '../../src/sync/walk.ts'

const still = (total: number): Totals => ({ first: total, last: total, smallest: total, largest: total })
const rejected = { kind: 'rejected', raw: 'null', reason: 'no object', path: '', headers: null } as const

function summary(fields: Partial<WalkSummary>): WalkSummary {
  return {
    totals: still(3),
    received: 3,
    distinct: 3,
    rejected: [],
    repeated: [],
    held: new Map(),
    degraded: 0,
    unknownFields: new Set(),
    absentFields: new Set(),
    ...fields,
  }
}

describe('judgeWalk', () => {
  test.each<[string, Partial<WalkSummary>, string]>([
    ['as many keys as the total says', {}, 'verified'],
    ['quarantined rows count', { distinct: 2, rejected: [rejected] }, 'verified'],
    ['nothing there, and said so', { totals: still(0), received: 0, distinct: 0 }, 'verified'],
    ['one row never came', { received: 2, distinct: 2 }, 'short'],
    ['one came twice in place of another', { distinct: 2, repeated: [{ user_id: 'a' }] }, 'moving'],
    ['the total moved and the count fits the last', { totals: { ...still(3), smallest: 2, first: 2 } }, 'moving'],
    ['more came than announced', { received: 4, distinct: 4 }, 'moving'],
    ['no total at all', { totals: undefined }, 'unverifiable'],
  ])('%s', (_case, fields, proof) => {
    expect(judgeWalk(summary(fields)).proof).toBe(proof)
  })

  test('what is missing is named', () => {
    expect(judgeWalk(summary({ received: 2, distinct: 2 })).reason).toContain('the source says 3, but 2 distinct')
  })
})
