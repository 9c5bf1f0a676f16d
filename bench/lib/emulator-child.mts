import process from 'node:process'
import { systemClock } from '../../src/core/clock.ts'
import { floorToMinute, wallTimeAt } from '../../src/core/wall-clock.ts'
import type { PageCache } from '../../src/emulator/http.ts'
import { type Emulator, startEmulator } from '../../src/emulator/server.ts'
import type { Command, Reply } from './emulator.mts'
import { benchWorld, changeVisitors } from './world.mts'

/** Runs the emulator as a process of its own, which handles its parent's commands and ends with it. */

let emulator: Emulator | undefined

async function handle(command: Command): Promise<Reply> {
  if (command.kind === 'start') {
    const endsAt = floorToMinute(wallTimeAt(systemClock.now(), 'Asia/Shanghai'))
    const { world, ...options } = command.options
    emulator = await startEmulator({ ...options, pages: createPageCache(), world: benchWorld(world, endsAt) })
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
  // Removed from the emulator, because a bench makes hundreds of thousands of calls.
  const calls = emulator.calls.splice(0).map(({ at, status }) => ({ at, status }))
  return { kind: 'use', cpuUs: user + system, calls: command.isDetailed ? calls : [], count: calls.length }
}

const MOST_PAGES = 50_000

/** Caches rendered pages, so that a benchmark does not measure rendering. */
function createPageCache(): PageCache {
  const bodies = new Map<string, Buffer>()
  return (key, render) => {
    const body = bodies.get(key ?? '') ?? render()
    if (bodies.size === MOST_PAGES) bodies.clear()
    if (key !== undefined) bodies.set(key, body)
    return body
  }
}

process.on('message', (command: Command) => {
  void handle(command).then((reply) => process.send?.(reply))
})
process.on('disconnect', () => {
  void emulator?.[Symbol.asyncDispose]()
})
