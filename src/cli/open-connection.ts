import type { Kysely } from 'kysely'
import { type Connection, type ConnectOptions, connect } from '../api/connect.ts'
import { createPaceCell } from '../api/pace-cell.ts'
import { createPermits } from '../api/permits.ts'
import type { ServiceSettings } from '../config.ts'
import type { Database } from '../db/database.ts'
import { createSharedPace } from '../state/shared-pace.ts'
import { createSharedTokenStore } from '../state/shared-token-store.ts'
import type { CliContext } from './command.ts'

/** What a verb adds to the settings of the service. */
type Additions = Partial<Pick<ConnectOptions, 'random' | 'reserve' | 'onExchange' | 'onCall'>>

/**
 * The client as the settings describe it. Fetched tokens, the ceiling of the call rate and the rate that is found are shared
 * with every process of the database `db`; without one this process is alone with them.
 */
export function openConnection(
  { clock, log, addSecret }: CliContext,
  service: ServiceSettings,
  db: Kysely<Database> | undefined,
  additions: Additions = {},
): Connection {
  const own = { ...service, clock, log, addSecret, ...additions }
  if (db === undefined) return connect(own)
  const { authUrl, appId, appSecret, baseUrl, maxCallsPerSecond } = service
  const hasCredentials = authUrl !== null && appId !== null && appSecret !== null
  const cell = createPaceCell(createSharedPace(db, { host: new URL(baseUrl).host, clock }))
  return connect({
    ...own,
    permits: createPermits({ maxCallsPerSecond, cell, clock, log, random: Math.random }),
    ...(hasCredentials ? { tokenStore: createSharedTokenStore(db, { authUrl, appId, appSecret, clock }) } : {}),
  })
}
