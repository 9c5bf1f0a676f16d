import { tracingChannel } from 'node:diagnostics_channel'
import { finished } from 'node:stream/promises'
import {
  type Dialect,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import {
  isConnectionLoss,
  type NamedTarget,
  translateConnectError,
  translateStatementError,
} from './translate-error.ts'

/** Where Node's diagnostics show each connection being opened, each statement, and each pool being closed. */
const trace = tracingChannel<{ readonly doing: string }>('livehouse:database')

/**
 * Kysely's Postgres dialect with two differences: errors arrive as `LivehouseError` where they are the database's to
 * repair, and `copy … from stdin` takes its data as the only parameter (in Postgres that statement has none, so nothing
 * else can be meant).
 */
export function warehouseDialect(pool: Pool, named: NamedTarget): Dialect {
  return new PostgresDialect({ pool: translatingPool(pool, named) })
}

function translatingPool(pool: Pool, named: NamedTarget): PostgresPool {
  // Kysely knows a connection by its client.
  const clients = new WeakMap<PoolClient, PostgresPoolClient>()
  return {
    options: pool.options,
    connect: async () => {
      try {
        const client = await trace.tracePromise(() => pool.connect(), { doing: 'connect' })
        const known = clients.get(client) ?? new TranslatingClient(client, named)
        clients.set(client, known)
        return known
      } catch (error) {
        throw translateConnectError(error, named)
      }
    },
    end: async () => await trace.tracePromise(() => pool.end(), { doing: 'close' }),
  }
}

class TranslatingClient implements PostgresPoolClient {
  readonly #client: PoolClient
  readonly #named: NamedTarget
  /** Its server has gone; the driver may not have noticed yet. */
  #isLost = false

  constructor(client: PoolClient, named: NamedTarget) {
    this.#client = client
    this.#named = named
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query(text: string | PostgresCursor<unknown>, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new Error('no statement is read through a cursor')
    return this.#run(text, values)
  }

  async #run(text: string, values: readonly unknown[]): Promise<unknown> {
    // The server has rolled back; another error here would hide why.
    if (this.#isLost && text === 'rollback') return { command: 'ROLLBACK', rowCount: null, rows: [] }
    try {
      return await trace.tracePromise(() => send(this.#client, text, values), { doing: text })
    } catch (error) {
      const translation = translateStatementError(error, this.#named)
      this.#isLost ||= isConnectionLoss(translation)
      throw translation
    }
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy === true || this.#isLost)
  }
}

async function send(client: PoolClient, text: string, values: readonly unknown[]): Promise<unknown> {
  const [data] = values
  if (!(data instanceof Buffer) || !text.startsWith('copy ')) return await client.query(text, [...values])
  const stream = client.query(copyFrom(text))
  stream.end(data)
  await finished(stream)
  return { command: 'INSERT', rowCount: stream.rowCount, rows: [] }
}
