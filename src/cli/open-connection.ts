import type { Kysely } from 'kysely'
import { type Connection, type ConnectOptions, connect } from '../api/connect.ts'
import type { ServiceSettings } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Database } from '../db/database.ts'
import { createSharedTokenStore } from '../state/shared-token-store.ts'
import type { CliContext } from './command.ts'

/** What a verb adds to the settings of the service. */
type Additions = Partial<Pick<ConnectOptions, 'random' | 'reserve' | 'onExchange' | 'onCall'>>

/**
 * The client as the settings describe it. Fetched tokens are shared with every process of the database `db`; without one
 * this process is alone with them.
 */
export function openConnection(
  { clock, log, addSecret }: CliContext,
  service: ServiceSettings,
  db: Kysely<Database> | undefined,
  additions: Additions = {},
): Connection {
  const shared = db === undefined ? {} : sharedOver(db, service, clock)
  return connect({ ...service, clock, log, addSecret, ...shared, ...additions })
}

function sharedOver(
  db: Kysely<Database>,
  { authUrl, appId, appSecret }: ServiceSettings,
  clock: Clock,
): Partial<ConnectOptions> {
  if (authUrl === null || appId === null || appSecret === null) return {}
  return { tokenStore: createSharedTokenStore(db, { authUrl, appId, appSecret, clock }) }
}
