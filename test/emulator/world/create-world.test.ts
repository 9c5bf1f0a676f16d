import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createWorld } from '../../../src/emulator/world/create-world.ts'

const OPTIONS = { seed: 1, channels: 3, viewers: 400, days: 30, endsAt: 1_795_271_400, timeZone: 'Asia/Shanghai' }

test('the same options give the same world, to the last byte', () => {
  const print = () => inspect(createWorld(OPTIONS), { depth: 9, maxArrayLength: null, getters: true })
  expect(print()).toBe(print())
})
