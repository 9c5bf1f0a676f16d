import { expect, test } from 'vitest'
import { judgeZone } from '../../../src/cli/doctor/check-database.ts'

const NOW = Date.UTC(2026, 10, 20, 6, 30)

test.each([
  [{ isKnown: true, differences: [] }, 'ok', 'Asia/Shanghai (+08:00 now), the same in PostgreSQL'],
  [{ isKnown: false, differences: [] }, 'failed', 'PostgreSQL does not know Asia/Shanghai'],
  [
    { isKnown: true, differences: [NOW] },
    'failed',
    'shows another time in PostgreSQL than here, such as on 2026-11-20',
  ],
])('%j', (zone, result, seen) => {
  const check = judgeZone('Asia/Shanghai', zone, NOW)
  expect(check).toMatchObject({ result, seen: expect.stringContaining(seen) })
  expect(check.mend === null).toBe(result === 'ok')
})
