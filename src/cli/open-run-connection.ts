import type { Kysely } from 'kysely'
import type { Connection, ConnectOptions } from '../api/connect.ts'
import type { ServiceSettings } from '../config.ts'
import type { Database } from '../db/database.ts'
import { callBudget } from '../state/call-budget.ts'
import type { CliContext } from './command.ts'
import { openConnection } from './open-connection.ts'
import { withKnownListParams } from './with-known-list-params.ts'

/** The client as a run of slices needs it: with the budget of the ten calls, and with what a probe has found. */
export async function openRunConnection(
  context: CliContext,
  service: ServiceSettings,
  db: Kysely<Database>,
  additions: Partial<Pick<ConnectOptions, 'onExchange' | 'onCall'>> = {},
): Promise<Connection> {
  const reserve = callBudget(db, service)
  return openConnection(context, await withKnownListParams(service, db), db, { ...additions, reserve })
}
