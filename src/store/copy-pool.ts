import { finished } from 'node:stream/promises'
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type { Pool, PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/**
 * A pool whose clients also take `copy … from stdin`, with its data as the only parameter. In Postgres that statement has no
 * parameters, so nothing else can be meant; the driver itself refuses it.
 */
export function copyPool(pool: Pool): PostgresPool {
  // Who holds a connection is known by its client.
  const clients = new WeakMap<PoolClient, PostgresPoolClient>()
  return {
    options: pool.options,
    connect: async () => {
      const client = await pool.connect()
      const known = clients.get(client) ?? new CopyClient(client)
      clients.set(client, known)
      return known
    },
    end: () => pool.end(),
  }
}

class CopyClient implements PostgresPoolClient {
  readonly #client: PoolClient

  constructor(client: PoolClient) {
    this.#client = client
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query(text: string | PostgresCursor<unknown>, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new Error('no statement is read through a cursor')
    const [data] = values
    return data instanceof Buffer && text.startsWith('copy ')
      ? copy(this.#client, text, data)
      : this.#client.query(text, [...values])
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy)
  }
}

async function copy(client: PoolClient, text: string, data: Buffer): Promise<PostgresQueryResult<never>> {
  const stream = client.query(copyFrom(text))
  stream.end(data)
  await finished(stream)
  return { command: 'INSERT', rowCount: stream.rowCount, rows: [] }
}
