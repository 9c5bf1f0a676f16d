import { type Clock, systemClock } from '../../src/core/clock.ts'
import { readPending } from '../../src/store/migrate.ts'
import { type StatusServer, type StatusServerOptions, startStatusServer } from '../../src/web/start-status-server.ts'
import type { TestDatabase } from './postgres.ts'
import { silentLog } from './silent-log.ts'

/** A status server on a free port. */
export interface TestStatusServer extends AsyncDisposable {
  readonly server: StatusServer
  /** Asks for a path; `headers` add to those of a browser without wishes. Redirects are not followed. */
  readonly get: (path: string, headers?: Readonly<Record<string, string>>, method?: string) => Promise<Response>
  readonly text: (path: string, headers?: Readonly<Record<string, string>>) => Promise<string>
}

export async function startTestStatusServer(
  { db }: Pick<TestDatabase, 'db'>,
  overrides: Partial<StatusServerOptions> = {},
): Promise<TestStatusServer> {
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
    readPending: () => readPending(db),
    ...overrides,
  })
  const get: TestStatusServer['get'] = async (path, headers = {}, method = 'GET') =>
    await fetch(server.url + path, { method, headers, redirect: 'manual' })
  return {
    server,
    get,
    text: async (path, headers) => await (await get(path, headers)).text(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** A clock that a test moves, for what is kept for some seconds; who sleeps on it goes on at once. */
export function movableClock(): Clock & { nowMs: number } {
  const clock = { nowMs: Date.UTC(2026, 10, 20, 6, 30), now: () => clock.nowMs, sleep: systemClock.sleep }
  return clock
}
