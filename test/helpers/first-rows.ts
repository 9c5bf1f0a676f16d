import type { Emulator } from '../../src/emulator/server.ts'

/** The first channel of the service, and the first row of each of its lists: for others like it. @throws where one is empty */
export function firstRows({ world }: Pick<Emulator, 'world'>) {
  const [channel] = world.channels.values()
  const [visitor] = channel?.visitors.rows ?? []
  const [record] = channel?.records.rows ?? []
  const [gift] = channel?.gifts.rows ?? []
  const [form] = channel?.questionnaires.rows ?? []
  const [signup] = form?.signups.rows ?? []
  if (!channel || !visitor || !record || !gift || !form || !signup) throw new Error('the world is empty')
  return { channel, visitor, record, gift, form, signup }
}
