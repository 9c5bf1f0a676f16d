import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { wallTimeAt } from '../../src/core/wall-clock.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import { readStreamTable } from '../helpers/read-table.ts'
import { startAccount } from '../helpers/start-account.ts'

test('rows that are gone are marked where full pages are left, and the service gives page 1 again behind them', async () => {
  await using account = await startAccount({ channels: 1, viewers: 201 })
  const { emulator, clock, database, run } = account
  emulator.switches.beyondLastPage = 'repeat-first'
  const [channel] = emulator.world.channels.values()
  const [form] = channel?.questionnaires.rows ?? []
  const [visitor, signup] = [channel?.visitors.rows[0], form?.signups.rows[0]]
  if (!channel || !form || !visitor || !signup) throw new Error('the world is empty')
  const signedUpAt = wallTimeAt(clock.nowMs, 'Asia/Shanghai') - 3600
  const signups = Array.from({ length: 101 }, (_, n) => ({ ...signup, userId: `u${n}`, signedUpAt }))
  const list = createRowList(signups.slice())
  channel.questionnaires.replace(form, { ...form, signups: list })
  for (let night = 0; night < 3; night++) {
    expect(await run(sync, ['--streams', 'visitors,signups'])).toMatchObject({ code: 0 })
    clock.nowMs += 7_200_000
    if (night === 0) channel.visitors.remove(visitor)
    if (night === 0) for (const each of signups.slice(100)) list.remove(each)
  }
  for (const stream of ['visitors', 'signups'])
    expect(await readStreamTable(database.db, stream, { isRemoved: true }), stream).toHaveLength(1)
})
