import type { Emulator } from '../../src/emulator/server.ts'
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
