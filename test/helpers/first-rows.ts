import type { Emulator } from '../../src/emulator/server.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Channel } from '../../src/emulator/world/world.ts'

/** @throws where there is none */
export function first<Item>([item]: Iterable<Item>): Item {
  if (item === undefined) throw new Error('an empty list')
  return item
}

export function firstChannel({ world }: Pick<Emulator, 'world'>): Channel {
  return first(world.channels.values())
}

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

/** Adds a visit, a gift and a signup at each of these wall times; the first form has no other signups, and is alone. */
export function addRowsAt(emulator: Pick<Emulator, 'world'>, times: readonly number[]): void {
  const { channel, form, record, gift, signup } = firstRows(emulator)
  // Of a form whose newest part has no signups nothing shows.
  for (const other of channel.questionnaires.rows.slice(1)) channel.questionnaires.remove(other)
  channel.records.add(
    ...times.map((at, n) => ({ ...record, recordId: String(900_000 + n), enteredAt: at, leftAt: at })),
  )
  channel.gifts.add(...times.map((at, n) => ({ ...gift, giftId: 900_000 + n, givenAt: at })))
  const signups = times.map((at, n) => ({ ...signup, userId: `s${n}`, signedUpAt: at }))
  channel.questionnaires.replace(form, { ...form, signups: createRowList(signups) })
}
