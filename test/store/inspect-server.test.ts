import { expect, test } from 'vitest'
import { readZone } from '../../src/store/inspect-server.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

test('zones that both know show the same times, whatever the offset and the fraction of a second', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  const instants = [Date.UTC(2026, 6, 1), Date.UTC(2026, 10, 20, 6, 30, 0, 999), Date.UTC(2016, 2, 27, 1)]
  for (const zone of ['Asia/Shanghai', 'asia/shanghai', 'Europe/Berlin', 'America/St_Johns', 'UTC']) {
    expect([zone, await readZone(database.db, zone, instants)]).toEqual([zone, { isKnown: true, differences: [] }])
  }
})

test('what the server has no zone for is not known, also where it would take it for something else', async () => {
  await using database = await createTestDatabase({ isMigrated: false })
  for (const zone of ['+08:00', 'Mars/Olympus']) {
    expect(await readZone(database.db, zone, [0])).toEqual({ isKnown: false, differences: [] })
  }
})
