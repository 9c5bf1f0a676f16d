import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { ignoredPage } from '../helpers/fault-effects.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { runJson } from '../helpers/run-json.ts'
import { startAccount } from '../helpers/start-account.ts'
import { clampedTo } from '../helpers/worlds/furnish.ts'

const LISTS = ['managers', 'manager_usage'] as const

test.each([
  [1, 'query'],
  [7, 'body'],
] as const)('a page size that is clamped to %i is used, parameters in the %s', async (most, listParams) => {
  await using account = await startAccount({ viewers: 1 })
  account.emulator.switches.listParams = listParams
  account.emulator.faults.push({ effect: clampedTo(most) })
  for (let night = 0; night < 2; night++) {
    expect(await runJson(account, sync, ['--streams', LISTS.join(',')])).toMatchObject({ code: 0, errors: [] })
    await expectTruth(account, LISTS)
  }
})

test('a page parameter that has no effect is an error of both lists', async () => {
  await using account = await startAccount({ viewers: 1 })
  account.emulator.faults.push({ effect: ignoredPage(true) }, { effect: clampedTo(5) })
  const ignored = { code: 'paging.ignored' }
  const result = await runJson(account, sync, ['--streams', LISTS.join(',')])
  expect(result).toMatchObject({ code: 3, errors: [ignored, ignored] })
})
