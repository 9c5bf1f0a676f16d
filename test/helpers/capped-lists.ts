import { sync } from '../../src/cli/sync.ts'
import { MINUTE, wallTimeAt } from '../../src/core/wall-clock.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import { firstRows } from './first-rows.ts'
import { runJson } from './run-json.ts'
import { startAccount, type TestAccount } from './start-account.ts'
import { clampedTo } from './worlds/furnish.ts'

export const ROWS = 130

/** So many of each, so many in each minute, of which the service counts no more than it is asked to, in pages of a size. */
export async function startLists(
  largestTotal: number,
  rowsPerMinute: number,
  rows = ROWS,
  pageSize = 10,
): Promise<TestAccount> {
  const account = await startAccount({ channels: 1, viewers: 5 })
  const { emulator, clock } = account
  Object.assign(emulator.switches, { largestTotal })
  emulator.faults.push({ effect: clampedTo(pageSize) })
  const { channel, visitor, record, form, signup } = firstRows(emulator)
  const timeOf = (n: number) => wallTimeAt(clock.nowMs, 'Asia/Shanghai') - (60 + Math.floor(n / rowsPerMinute)) * MINUTE
  const numbers = Array.from({ length: rows }, (_, n) => n)
  channel.visitors.add(...numbers.map((n) => ({ ...visitor, userId: `v${n}` })))
  channel.records.add(
    ...numbers.map((n) => ({ ...record, recordId: String(900_000 + n), enteredAt: timeOf(n), leftAt: timeOf(n) })),
  )
  const signups = numbers.map((n) => ({ ...signup, userId: `s${n}`, signedUpAt: timeOf(n) }))
  channel.questionnaires.replace(form, { ...form, signups: createRowList(signups) })
  return account
}

export async function syncStreams(account: TestAccount, names = 'visitors,watch_records,questionnaires,signups') {
  account.clock.nowMs += 7_200_000
  return await runJson(account, sync, ['--streams', names])
}
