import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { request } from 'undici'
import type { Conditions } from '../../src/emulator/conditions.ts'
import type { EmulatorOptions } from '../../src/emulator/server.ts'
import type { WorldSize } from './world.mts'

export type Command =
  | {
      readonly kind: 'start'
      readonly options: Omit<EmulatorOptions, 'world' | 'clock' | 'pages'> & { readonly world: WorldSize }
    }
  | { readonly kind: 'change'; readonly share: number }
  | { readonly kind: 'set'; readonly conditions: Partial<Conditions> }
  | { readonly kind: 'use'; readonly isDetailed: boolean }

export type Reply =
  | {
      readonly kind: 'started'
      readonly baseUrl: string
      readonly apiToken: string
      readonly channelIds: readonly string[]
    }
  | { readonly kind: 'changed'; readonly rows: number }
  | { readonly kind: 'done' }
  | EmulatorUse

export interface EmulatorUse {
  readonly kind: 'use'
  /** Since its start. */
  readonly cpuUs: number
  /** Since the previous `use`; empty unless `isDetailed`. */
  readonly calls: readonly { readonly at: number; readonly status: number }[]
  readonly count: number
}

export interface BenchEmulator extends AsyncDisposable {
  /** The settings with which livehouse reaches it. */
  readonly env: Readonly<Record<string, string>>
  readonly rows: number
  /** Requests every page of visitors once, so that later answers come from the cache. */
  readonly warm: () => Promise<void>
  readonly change: (share: number) => Promise<number>
  readonly set: (conditions: Partial<Conditions>) => Promise<void>
  /** Reads CPU time and calls since the previous `use`. */
  readonly use: (isDetailed?: boolean) => Promise<EmulatorUse>
}

export type EmulatorSetup = Extract<Command, { kind: 'start' }>['options']

const PAGE_SIZE = 100

export async function openEmulator(options: EmulatorSetup, signal: AbortSignal): Promise<BenchEmulator> {
  const child = fork(fileURLToPath(new URL('emulator-child.mts', import.meta.url)), [], {
    execArgv: ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', '--max-old-space-size=8192'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    signal,
  })
  child.on('error', () => {})
  const ask = async (command: Command): Promise<Reply> => {
    const answer = once(child, 'message', { signal })
    child.send(command)
    const [reply]: Reply[] = await answer
    if (reply === undefined) throw new Error('the emulator does not answer')
    return reply
  }
  const started = await ask({ kind: 'start', options })
  if (started.kind !== 'started') throw new Error('the emulator does not start')
  const { baseUrl, apiToken, channelIds } = started
  const { channels, visitors } = options.world
  let cpuUs = 0
  return {
    env: {
      LIVEHOUSE_BASE_URL: baseUrl,
      LIVEHOUSE_API_TOKEN: apiToken,
      LIVEHOUSE_CHANNELS: channelIds.join(','),
    },
    rows: channels * visitors,
    warm: async () => {
      for (const channel of channelIds) {
        const pages = Math.ceil(visitors / PAGE_SIZE)
        const url = `${baseUrl}/v2/activities/${channel}/visitorList`
        const headers = { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' }
        await workInParallel(16, pages, async (index) => {
          const body = JSON.stringify({ filter: '0', direction: 'desc', perPage: PAGE_SIZE, p: index + 1 })
          const answer = await request(url, { method: 'POST', headers, body, signal })
          await answer.body.dump()
        })
      }
    },
    change: async (share) => {
      const reply = await ask({ kind: 'change', share })
      return reply.kind === 'changed' ? reply.rows : 0
    },
    set: async (conditions) => {
      await ask({ kind: 'set', conditions })
    },
    use: async (isDetailed = false) => {
      const reply = await ask({ kind: 'use', isDetailed })
      if (reply.kind !== 'use') throw new Error('the emulator does not answer')
      const since = reply.cpuUs - cpuUs
      cpuUs = reply.cpuUs
      return { ...reply, cpuUs: since }
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

/** Does `count` pieces of work, at most `limit` at a time. */
async function workInParallel(limit: number, count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) {
      const index = next
      next += 1
      await work(index)
    }
  }
  await Promise.all(Array.from({ length: limit }, worker))
}
