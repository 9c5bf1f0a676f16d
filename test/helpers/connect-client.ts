import type { CallContext } from '../../src/core/page.ts'
import { type Connection, type ConnectOptions, connect } from '../../src/service/connect.ts'
import { requestTicket, type TicketParameters } from '../../src/service/other-calls.ts'
import { managers } from '../../src/streams/managers.ts'
import { createFakeClock } from './fake-clock.ts'
import { silentLog } from './silent-log.ts'

/** Connects to a service under test with a fixed token, without pacing, and with waits that take no time. */
export function connectClient(url: string, overrides: Partial<ConnectOptions> = {}): Connection {
  return connect({
    accountList: { stream: managers, partition: {} },
    baseUrl: url,
    authUrl: url,
    appId: null,
    appSecret: null,
    apiToken: 'fixed-token',
    maxCallsPerSecond: 0,
    concurrency: 16,
    listParams: 'query',
    requestTimeoutMs: 10_000,
    proxies: { http: null, https: null, none: null },
    clock: createFakeClock({ isAutomatic: true }),
    log: silentLog,
    addSecret: () => {},
    redact: (text) => text,
    random: () => 0.5,
    ...overrides,
  })
}

/** A context that is never aborted. */
export const openContext = (): CallContext => ({ signal: new AbortController().signal })

/** Returns the rejection of a promise, for tests that check more than its code. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('the promise should have been rejected')
}

/** Requests a ticket (API 4.2). */
export async function fetchTicket({ send }: Connection, parameters: TicketParameters): Promise<string> {
  return await requestTicket(send, parameters, openContext())
}
