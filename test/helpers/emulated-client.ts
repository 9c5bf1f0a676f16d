import assert from 'node:assert/strict'
import type { ListRequest } from '../../src/core/page.ts'
import type { Partition, Window } from '../../src/core/slice.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import type { Connection, ConnectOptions } from '../../src/service/connect.ts'
import { findStream } from '../../src/streams/registry.ts'
import { connectClient } from './connect-client.ts'

/** Connects to an emulator with both kinds of credentials, and with an unlimited budget for API 4.6. */
export function connectTo(emulator: Emulator, overrides: Partial<ConnectOptions> = {}): Connection {
  const { appId, appSecret, apiToken, authUrl } = emulator
  const spendDay = async () => {}
  const reservation = { scope: 'account', serviceDay: '2026-11-20', resumesAt: '2026-11-20T16:00:00Z', spendDay }
  const reserve = async () => reservation
  return connectClient(emulator.baseUrl, { authUrl, appId, appSecret, apiToken, reserve, ...overrides })
}

/** The request for a list of a stream, such as that of a channel. */
export function listOf(name: string, partition: Partition = {}, window?: Window): ListRequest {
  return { stream: findStream(name) ?? assert.fail(`there is no stream ${name}`), partition, window }
}
