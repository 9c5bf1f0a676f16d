import { expect, test } from 'vitest'
import { checkFacts } from '../../../src/cli/doctor/check-facts.ts'
import type { KnownFact } from '../../../src/core/source-fact.ts'

const fact = (overrides: Partial<KnownFact>): KnownFact => ({
  topic: 'zone',
  subject: 'account',
  answer: 'fits',
  evidence: 'newest record 2 minutes ago',
  foundAt: new Date('2026-11-20T06:00:00Z'),
  ...overrides,
})

test('each answer has its line, times share one, and of the unknown there is the number', () => {
  const checks = checkFacts([
    fact({}),
    fact({ topic: 'filter_ends', subject: 'giftRunning', answer: 'both' }),
    fact({ topic: 'response_time', subject: 'giftRunning', answer: '7 ms' }),
    fact({ topic: 'response_time', subject: 'managers', answer: '9 ms' }),
    fact({ topic: 'retry_after', answer: null }),
  ])
  expect(checks.map(({ name, result, seen }) => `${result} ${name}: ${seen}`)).toEqual([
    'ok probe: asked 2026-11-20: 4 known, 1 unknown',
    'ok zone: the newest record and the configured zone: fits',
    'ok filter_ends 4.12: ends of the time filter that belong to it: both',
    'ok response_time: 4.12 7 ms, 4.9 9 ms',
  ])
})

test('a zone that does not fit is worth a look; without a probe there is nothing to show', () => {
  const [, zone] = checkFacts([fact({ answer: 'does not fit', evidence: '60 minutes ahead' })])
  expect(zone).toMatchObject({ result: 'warning', seen: expect.stringContaining('60 minutes ahead') })
  expect(checkFacts([])).toMatchObject([{ name: 'probe', result: 'skipped' }])
})
