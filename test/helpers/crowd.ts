import { expect } from 'vitest'
import { MINUTE, parseWallTime } from '../../src/core/wall-clock.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Channel } from '../../src/emulator/world/world.ts'
import { first, times } from './first-rows.ts'
import type { startAccount } from './start-account.ts'

/** The minute of the first rows of a crowd. */
export const at = parseWallTime('2026-11-12 20:00:00') ?? 0

/** So many of a list's rows, made of its first one, over so many minutes, a service's order within each left to the page. */
export interface Crowd {
  readonly count: number
  readonly minutes: number
}

/** Adds a crowd to a stream of a channel. */
export const fill = {
  visitors: ({ visitors }: Channel, { count }: Crowd) => {
    const model = first(visitors.rows)
    visitors.add(...times(count, (n) => ({ ...model, userId: `crowd-${n}`, watchSeconds: 0 })))
  },
  watch_records: ({ records }: Channel, { count, minutes }: Crowd) => {
    const model = first(records.rows)
    const made = (n: number) => ({ ...model, recordId: String(900_000 + n), enteredAt: minuteOf(n, minutes) })
    records.add(...times(count, (n) => ({ ...made(n), leftAt: made(n).enteredAt + MINUTE })))
  },
  signups: (channel: Channel, { count, minutes }: Crowd) => {
    const form = first(channel.questionnaires.rows)
    const model = first(form.signups.rows)
    const made = times(count, (n) => ({ ...model, userId: `crowd-${n}`, signedUpAt: minuteOf(n, minutes) }))
    channel.questionnaires.replace(form, { ...form, signups: createRowList([...made]) })
  },
  gifts: ({ gifts }: Channel, { count, minutes }: Crowd) => {
    const model = first(gifts.rows)
    gifts.add(...times(count, (n) => ({ ...model, giftId: n, visitorId: `crowd-${n}`, givenAt: minuteOf(n, minutes) })))
  },
}

const minuteOf = (n: number, minutes: number) => at + (n % minutes) * MINUTE

/** So many hours later, a green sync of a stream; then the warehouse has what the service has. */
export async function syncTruly(
  account: Awaited<ReturnType<typeof startAccount>>,
  stream: string,
  hours = 2,
): Promise<void> {
  account.clock.passHours(hours)
  const names = stream === 'signups' ? 'questionnaires,signups' : stream
  expect(await account.sync(names)).toMatchObject({ code: 0, errors: [] })
  await account.expectTruth([stream])
}
