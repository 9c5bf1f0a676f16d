import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts'
import { type RawAnswer, rawCall } from './raw-call.ts'

/** A small emulator at a fixed time, and calls to it. */
export interface EmulatedService extends AsyncDisposable {
  readonly emulator: Emulator
  /** The first channel. */
  readonly channelId: string
  /** With the fixed bearer; `path` may hold `:channel` for the first channel. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<RawAnswer>
}

export const FIXED_NOW = Date.UTC(2026, 10, 20, 6, 30)

/** @param options over a world of 2 channels with 60 viewers each at a standing clock. */
export async function startEmulatedService(options: EmulatorOptions = {}): Promise<EmulatedService> {
  const clock = { now: () => FIXED_NOW, sleep: async () => {} }
  const emulator = await startEmulator({ channels: 2, viewers: 60, clock, ...options })
  const channelId = emulator.channelIds[0] ?? ''
  return {
    emulator,
    channelId,
    call: (method, path, body) => {
      const url = emulator.baseUrl + path.replace(':channel', channelId)
      return rawCall({ method, url, bearer: emulator.apiToken, body })
    },
    [Symbol.asyncDispose]: () => emulator[Symbol.asyncDispose](),
  }
}
