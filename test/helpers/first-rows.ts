import type { WallTime } from '../../src/core/wall-clock.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Channel } from '../../src/emulator/world/world.ts'

/** Returns the first item. @throws if there is none */
export function first<Item>([item]: Iterable<Item>): Item {
  if (item === undefined) throw new Error('the list is empty')
  return item
}

export const firstChannel = ({ world }: Pick<Emulator, 'world'>): Channel => first(world.channels.values())

/** The first channel, and the first row of each of its lists, for tests to copy. @throws if a list is empty */
export function firstRows(emulator: Pick<Emulator, 'world'>) {
  const channel = firstChannel(emulator)
  const form = first(channel.questionnaires.rows)
  return {
    channel,
    form,
    visitor: first(channel.visitors.rows),
    record: first(channel.records.rows),
    gift: first(channel.gifts.rows),
    signup: first(form.signups.rows),
  }
}

/** Makes `count` items, each from its index. */
export function times<T>(count: number, make: (n: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

/** Adds visits, gifts and signups at these wall times. Only the first questionnaire stays, with only these signups. */
export function addRows(emulator: Pick<Emulator, 'world'>, count: number, timeOf: (n: number) => WallTime): void {
  const { channel, form, record, gift, signup } = firstRows(emulator)
  // The others may have no recent signups: then nothing shows that the service limits their ranges.
  for (const other of channel.questionnaires.rows.slice(1)) channel.questionnaires.remove(other)
  for (let n = 0; n < count; n++) {
    const at = timeOf(n)
    channel.records.add({ ...record, recordId: String(900_000 + n), enteredAt: at, leftAt: at })
    channel.gifts.add({ ...gift, giftId: 900_000 + n, givenAt: at })
  }
  const signups = times(count, (n) => ({ ...signup, userId: `s${n}`, signedUpAt: timeOf(n) }))
  channel.questionnaires.replace(form, { ...form, signups: createRowList([...signups]) })
}
