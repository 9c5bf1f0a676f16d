import { expect } from 'vitest'
import { MINUTE, parseWallTime } from '../../src/core/wall-clock.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Signup } from '../../src/emulator/world/world.ts'
import { firstRows } from './first-rows.ts'
import type { TestAccount } from './start-account.ts'

/** The minute of a crowd's first rows. */
export const at = parseWallTime('2026-11-12 20:00:00') ?? 0

/** The number of rows of each stream. */
export type Crowd = Partial<Record<'visitors' | 'watch_records' | 'signups' | 'gifts', number>>

/** Adds a crowd to the first channel, spread over `minutes`. Rows of one minute have equal times, so any order. */
export function fill(emulator: Emulator, crowd: Crowd, minutes: number): void {
  const { channel, form, visitor, record, gift, signup } = firstRows(emulator)
  const signups = createRowList<Signup>()
  if (crowd.signups) channel.questionnaires.replace(form, { ...form, signups })
  for (let n = 0; n < Math.max(...Object.values(crowd)); n++) {
    const [userId, time] = [`crowd-${n}`, at + (n % minutes) * MINUTE]
    const entered = { recordId: String(900_000 + n), enteredAt: time, leftAt: time + MINUTE }
    const has = (count = 0) => n < count
    if (has(crowd.visitors)) channel.visitors.add({ ...visitor, userId, watchSeconds: 0 })
    if (has(crowd.watch_records)) channel.records.add({ ...record, ...entered })
    if (has(crowd.signups)) signups.add({ ...signup, userId, signedUpAt: time })
    if (has(crowd.gifts)) channel.gifts.add({ ...gift, giftId: n, visitorId: userId, givenAt: time })
  }
}

/** Syncs a stream `hours` later. Expects a green run, after which the warehouse equals the service. */
export async function syncAndExpectTruth(account: TestAccount, stream: string, hours = 2): Promise<void> {
  account.clock.passHours(hours)
  const names = stream === 'signups' ? 'questionnaires,signups' : stream
  expect(await account.sync(names)).toMatchObject({ code: 0, errors: [] })
  await account.expectTruth([stream])
}
