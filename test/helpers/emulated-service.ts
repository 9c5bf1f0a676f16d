import { type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts'
import { rawCall } from './raw-call.ts'

export type EmulatedService = Awaited<ReturnType<typeof startEmulatedService>>

export const FIXED_NOW = Date.UTC(2026, 10, 20, 6, 30)

/** Starts a small emulator at a fixed time. @param options by default a world of 2 channels with 60 viewers each */
export async function startEmulatedService(options: EmulatorOptions = {}) {
  const clock = { now: () => FIXED_NOW, sleep: async () => {} }
  const emulator = await startEmulator({ channels: 2, viewers: 60, clock, ...options })
  const channelId = emulator.channelIds[0] ?? ''
  return {
    emulator,
    /** The first channel. */
    channelId,
    /** Makes a call with the fixed token; `:channel` in `path` stands for the first channel. */
    call: (method: string, path: string, body?: unknown) => {
      const url = emulator.baseUrl + path.replace(':channel', channelId)
      return rawCall({ method, url, bearer: emulator.apiToken, body })
    },
    [Symbol.asyncDispose]: () => emulator[Symbol.asyncDispose](),
  }
}
