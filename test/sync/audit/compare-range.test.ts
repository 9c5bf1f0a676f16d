import { expect, test } from 'vitest'
import { without } from '../../../src/sync/audit/compare-range.ts'

test.each([100, 1000])(
  'of %i keys that are gone and kept each is looked at a few times, however many there are',
  (count) => {
    const keys = Array.from({ length: count }, (_, index) => `${index}`)
    let looks = 0
    const kept = new Proxy(keys, { get: (target, name) => ((looks += 1), Reflect.get(target, name)) })
    expect(without([...keys, 'new'], kept)).toEqual(['new'])
    expect(looks).toBeLessThan(5 * count)
  },
)
