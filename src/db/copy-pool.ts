import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import { type Connection, type Pool, type PoolClient, Query, type QueryResult } from 'pg'

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

function copy(client: PoolClient, text: string, data: Buffer): Promise<QueryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<QueryResult>()
  client.query(new CopyIn(text, data, (error, result) => (error ? reject(error) : resolve(result))))
  return promise
}

/** The part of the driver's connection that answers when the server is ready to take data. */
interface CopyConnection {
  readonly sendCopyFromChunk: (data: Buffer) => void
  readonly endCopyFrom: () => void
}

/** A statement of the driver that sends its data at once and is over when the server has taken or refused it. */
class CopyIn extends Query {
  readonly #data: Buffer

  constructor(text: string, data: Buffer, callback: (error: Error | undefined, result: QueryResult) => void) {
    super(text, callback)
    this.#data = data
  }

  /** Called by the client, in place of the driver's own answer, which is that there is no data. */
  handleCopyInResponse(connection: Connection & CopyConnection): void {
    connection.sendCopyFromChunk(this.#data)
    connection.endCopyFrom()
  }
}
