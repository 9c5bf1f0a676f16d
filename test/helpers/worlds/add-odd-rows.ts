import { MINUTE, parseWallTime } from '../../../src/core/wall-clock.ts'
import type { FaultEffect } from '../../../src/emulator/faults.ts'
import { createWorld } from '../../../src/emulator/world/create-world.ts'
import { withheldRows } from '../fault-effects.ts'
import type { ModelWorld } from '../model/model-world.ts'
import type { Scenario } from './scenario.ts'

/** Marks a gift that the service counts when it cuts its pages, but never shows. HIDDEN_NICK marks an old record. */
const HIDDEN_GIFT = 66
/** Of one person in one second; whole pages of them would mean an ignored page parameter. */
const MOST_EQUAL_SIGNUPS = 2
const HIDDEN_NICK = 'never shown'

/** Adds equal rows, hidden rows, old records and managers to a world. */
export function addOddRows({ world }: ModelWorld, { group, ages, equal, hides, oldRecords }: Scenario): void {
  const [channel] = world.channels.values()
  const gift = channel?.gifts.rows[0]
  const form = channel?.questionnaires.rows[0]
  const record = channel?.records.rows[0]
  if (!channel) throw new Error('no channel')
  const at = world.endsAt - (equal.age + 1) * MINUTE
  const copies = <Row>(row: Row): readonly Row[] => Array.from({ length: equal.count }, () => row)
  if (group === 'gifts' && gift) {
    channel.gifts.add(...copies({ ...gift, givenAt: at, giftId: 9 }))
    for (const age of hides ? ages.slice(0, 5) : [])
      channel.gifts.add({ ...gift, givenAt: world.endsAt - (age + 3) * MINUTE, giftId: HIDDEN_GIFT })
  }
  const signup = form?.signups.rows[0]
  if (group === 'signups' && form && signup)
    form.signups.add(...copies({ ...signup, signedUpAt: at }).slice(0, MOST_EQUAL_SIGNUPS))
  if (group === 'old' && record) {
    const start = parseWallTime('2024-05-01') ?? 0
    for (let number = 0; number < oldRecords; number++) {
      const isHidden = hides && number % 9 === 4
      const enteredAt = start + number * 300 * MINUTE
      const times = { enteredAt, leftAt: enteredAt + 300 }
      channel.oldRecords.add({ ...record, ...times, recordId: `9${number}`, nick: isHidden ? HIDDEN_NICK : 'n' })
    }
  }
  if (group === 'managers') {
    const { endsAt, timeZone } = world
    const { managers } = createWorld({ seed: 1, channels: 1, viewers: 1, days: 1, endsAt, timeZone })
    world.managers.add(...managers.rows)
  }
}

/** Leaves out the rows that the service never shows. */
export const hiding = withheldRows((item) => Object(item).gift_id === HIDDEN_GIFT || Object(item).nick === HIDDEN_NICK)

/** Whether the service never shows this row. */
export function isHidden(row: Readonly<Record<string, unknown>>): boolean {
  return row.gift_id === String(HIDDEN_GIFT) || row.nickname === HIDDEN_NICK
}

/** Limits the size of pages. */
export function clampedTo(size: number): FaultEffect {
  const clamp = (asked: number) => Math.min(asked, size)
  return {
    name: 'clamp',
    query: (query) => ({ ...query, pageSize: clamp(query.pageSize), echoPageSize: clamp(query.echoPageSize) }),
  }
}
