import { expect } from 'vitest'
import { MINUTE, parseWallTime } from '../../src/core/wall-clock.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Signup } from '../../src/emulator/world/world.ts'
import { firstRows } from './first-rows.ts'
import type { TestAccount } from './start-account.ts'

/** The minute of the first rows of a crowd. */
export const at = parseWallTime('2026-11-12 20:00:00') ?? 0

export type CrowdStream = 'visitors' | 'watch_records' | 'signups' | 'gifts'

/** Adds so many rows of a stream to the first channel, over so many minutes; the order within each is left to the page. */
export function fill(emulator: Emulator, stream: CrowdStream, count: number, minutes: number): void {
  const { channel, form, visitor, record, gift, signup } = firstRows(emulator)
  const signups = createRowList<Signup>()
  if (stream === 'signups') channel.questionnaires.replace(form, { ...form, signups })
  for (let n = 0; n < count; n++) {
    const [userId, time] = [`crowd-${n}`, at + (n % minutes) * MINUTE]
    const entered = { recordId: String(900_000 + n), enteredAt: time, leftAt: time + MINUTE }
    if (stream === 'visitors') channel.visitors.add({ ...visitor, userId, watchSeconds: 0 })
    if (stream === 'watch_records') channel.records.add({ ...record, ...entered })
    if (stream === 'signups') signups.add({ ...signup, userId, signedUpAt: time })
    if (stream === 'gifts') channel.gifts.add({ ...gift, giftId: n, visitorId: userId, givenAt: time })
  }
}

/** So many hours later, a green sync of a stream; then the warehouse has what the service has. */
export async function syncTruly(account: TestAccount, stream: string, hours = 2): Promise<void> {
  account.clock.passHours(hours)
  const names = stream === 'signups' ? 'questionnaires,signups' : stream
  expect(await account.sync(names)).toMatchObject({ code: 0, errors: [] })
  await account.expectTruth([stream])
}
