import { type Clock, systemClock } from '../../src/core/clock.ts'
import { type StatusServerOptions, startStatusServer } from '../../src/web/start-status-server.ts'
import type { TestDatabase } from './postgres.ts'
import { silentLog } from './silent-log.ts'

export type TestStatusServer = Awaited<ReturnType<typeof startTestStatusServer>>

export async function startTestStatusServer({ db }: Pick<TestDatabase, 'db'>, more: Partial<StatusServerOptions> = {}) {
  const server = await startStatusServer({
    db,
    clock: systemClock,
    log: silentLog,
    listen: { host: '127.0.0.1', port: 0 },
    token: undefined,
    language: undefined,
    version: '1.2.3',
    budget: { v1Budget: 10, v1BudgetScope: 'account' },
    readJobs: async () => [],
    ...more,
  })
  /** Requests a path without following redirects. Reads the body, because unread it would keep its connection open. */
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
    const answer = await fetch(server.url + path, { method, headers, redirect: 'manual' })
    return new Response(await answer.text(), answer)
  }
  return {
    server,
    get,
    text: async (...request: Parameters<typeof get>) => await (await get(...request)).text(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** A clock that a test moves, for what is cached for some seconds; its sleeps take real time. */
export function movableClock(): Clock & { nowMs: number } {
  const clock = { nowMs: Date.UTC(2026, 10, 20, 6, 30), now: () => clock.nowMs, sleep: systemClock.sleep }
  return clock
}
