import type { WallTime } from '../../src/core/wall-clock.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Channel } from '../../src/emulator/world/world.ts'

/** @throws where there is none */
export function first<Item>([item]: Iterable<Item>): Item {
  if (item === undefined) throw new Error('an empty list')
  return item
}

export const firstChannel = ({ world }: Pick<Emulator, 'world'>): Channel => first(world.channels.values())

/** The first channel of the service, and the first row of each of its lists: for others like it. @throws where one is empty */
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

/** So many, made by their place. */
export function times<T>(count: number, make: (n: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

/** Adds so many visits, gifts and signups at these wall times; the first form has no other signups, and is alone. */
export function addRows(emulator: Pick<Emulator, 'world'>, count: number, timeOf: (n: number) => WallTime): void {
  const { channel, form, record, gift, signup } = firstRows(emulator)
  // Of a form whose newest part has no signups nothing shows.
  for (const other of channel.questionnaires.rows.slice(1)) channel.questionnaires.remove(other)
  for (let n = 0; n < count; n++) {
    const at = timeOf(n)
    channel.records.add({ ...record, recordId: String(900_000 + n), enteredAt: at, leftAt: at })
    channel.gifts.add({ ...gift, giftId: 900_000 + n, givenAt: at })
  }
  const signups = times(count, (n) => ({ ...signup, userId: `s${n}`, signedUpAt: timeOf(n) }))
  channel.questionnaires.replace(form, { ...form, signups: createRowList([...signups]) })
}
