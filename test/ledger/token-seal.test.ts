import { expect, test } from 'vitest'
import { createSeal } from '../../src/ledger/token-seal.ts'

const purpose = 'token of app-1'
const sealed = await createSeal('hush', purpose).seal('token-1 中文')

test('what is sealed opens with the same secret, and shows nothing of itself', async () => {
  expect(await createSeal('hush', purpose).open(sealed)).toBe('token-1 中文')
  expect(sealed.toString('latin1')).not.toContain('token')
})

test('the same text is sealed differently each time', async () => {
  expect(sealed.equals(await createSeal('hush', purpose).seal('token-1 中文'))).toBe(false)
})

test.each([
  ['another secret', 'hush!', purpose],
  ['another purpose', 'hush', 'token of app-2'],
])('%s does not open it', async (_case, secret, other) => {
  expect(await createSeal(secret, other).open(sealed)).toBeUndefined()
})

test.each([0, 12, 28, sealed.length - 1])('a change at byte %d is noticed', async (at) => {
  const changed = Buffer.from(sealed)
  changed[at] = (changed[at] ?? 0) ^ 1
  expect(await createSeal('hush', purpose).open(changed)).toBeUndefined()
})

test('what is too short to have been sealed counts as none', async () => {
  expect(await createSeal('hush', purpose).open(sealed.subarray(0, 20))).toBeUndefined()
})
