import { expect, test } from 'vitest'
import { parseWallTime } from '../../../src/core/wall-clock.ts'
import { createWorld } from '../../../src/emulator/world/create-world.ts'
import type { Channel, World } from '../../../src/emulator/world/world.ts'

const ENDS_AT = parseWallTime('2026-11-20 14:30') ?? 0
const OPTIONS = { seed: 1, channels: 3, viewers: 400, days: 30, endsAt: ENDS_AT, timeZone: 'Asia/Shanghai' }

const channelsOf = (world: World): Channel[] => [...world.channels.values()]

function print(world: World): string {
  const lists = channelsOf(world).map((channel) => [
    { ...channel, menus: [...channel.menus] },
    [channel.visitors.rows, channel.records.rows, channel.oldRecords.rows, channel.gifts.rows],
    channel.questionnaires.rows.map((form) => [form, form.signups.rows]),
  ])
  return JSON.stringify([lists, world.managers.rows, [...world.videoIds]])
}

test('the same options give the same world, to the last byte', () => {
  expect(print(createWorld(OPTIONS))).toBe(print(createWorld(OPTIONS)))
})
