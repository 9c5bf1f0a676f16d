import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { ignoredPage } from '../helpers/fault-effects.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { startAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/furnish.ts'

const LISTS = ['managers', 'manager_usage'] as const

test.each([
  [5, 'query'],
  [1, 'query'],
  [20, 'body'],
  [7, 'body'],
] as const)('a page size that is clamped to %i is used, parameters in the %s', async (most, listParams) => {
  await using account = await startAccount({ viewers: 1 })
  account.emulator.switches.listParams = listParams
  account.emulator.faults.push({ effect: clampedTo(most) })
  for (let night = 0; night < 2; night++) {
    const { code, printed } = await account.run(sync, ['--streams', LISTS.join(','), '--json'])
    expect([code, JSON.parse(printed.join('\n')).errors]).toEqual([0, []])
    await expectTruth(account, LISTS)
  }
})

test('a page parameter that has no effect is an error of both lists', async () => {
  await using account = await startAccount({ viewers: 1 })
  account.emulator.faults.push({ effect: ignoredPage(true) }, { effect: clampedTo(5) })
  const { code, printed } = await account.run(sync, ['--streams', LISTS.join(','), '--json'])
  const codes = JSON.parse(printed.join('\n')).errors.map((error: { code: string }) => error.code)
  expect([code, codes]).toEqual([3, ['paging.ignored', 'paging.ignored']])
})
