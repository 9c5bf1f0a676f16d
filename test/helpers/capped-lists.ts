import { MINUTE } from '../../src/core/wall-clock.ts'
import { addRows, firstRows, times } from './first-rows.ts'
import { startAccount, type TestAccount } from './start-account.ts'
import { clampedTo } from './worlds/add-odd-rows.ts'

export const ROWS = 130

/** Starts an account with `rows` rows in each list, `perMinute` in a minute. The service reports totals up to `cap`. */
export async function startLists(cap: number, perMinute: number, rows = ROWS, pageSize = 10): Promise<TestAccount> {
  const account = await startAccount({ channels: 1, viewers: 5 })
  const { emulator } = account
  Object.assign(emulator.switches, { largestTotal: cap })
  emulator.faults.push({ effect: clampedTo(pageSize) })
  const { channel, visitor } = firstRows(emulator)
  const newest = account.hoursAgo(1)
  channel.visitors.add(...times(rows, (n) => ({ ...visitor, userId: `v${n}` })))
  addRows(emulator, rows, (n) => newest - Math.floor(n / perMinute) * MINUTE)
  return account
}

export async function syncStreams(account: TestAccount, names = 'visitors,watch_records,questionnaires,signups') {
  account.clock.passHours(2)
  return await account.sync(names)
}
