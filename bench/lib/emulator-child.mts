import process from 'node:process'
import { systemClock } from '../../src/core/clock.ts'
import { floorToMinute, wallTimeAt } from '../../src/core/wall-clock.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import type { Command, Reply } from './emulator.mts'
import { benchWorld, changeVisitors } from './world.mts'

/** The emulator as a process of its own: does what its parent says, and ends with it. */

let emulator: Emulator | undefined

async function obey(command: Command): Promise<Reply> {
  if (command.kind === 'start') {
    const endsAt = floorToMinute(wallTimeAt(systemClock.now(), 'Asia/Shanghai'))
    const { world, ...options } = command.options
    emulator = await startEmulator({ ...options, world: benchWorld(world, endsAt) })
    const { baseUrl, apiToken, channelIds } = emulator
    return { kind: 'started', baseUrl, apiToken, channelIds }
  }
  if (emulator === undefined) throw new Error('not started')
  if (command.kind === 'change') return { kind: 'changed', rows: changeVisitors(emulator.world, command.share) }
  if (command.kind === 'set') {
    Object.assign(emulator.conditions, command.conditions)
    return { kind: 'done' }
  }
  const { user, system } = process.cpuUsage()
  // Taken out: a bench makes some hundred thousand calls.
  const seen = emulator.calls.splice(0).map(({ at, status }) => ({ at, status }))
  return { kind: 'use', cpuUs: user + system, calls: command.isDetailed ? seen : [], count: seen.length }
}

process.on('message', (command: Command) => {
  void obey(command).then((reply) => process.send?.(reply))
})
process.on('disconnect', () => {
  void emulator?.[Symbol.asyncDispose]()
})
