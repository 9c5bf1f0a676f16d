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

/** CopyData and CopyDone (PostgreSQL manual, message formats): a letter and the length of what follows, itself included. */
const COPY_DATA = 'd'.charCodeAt(0)
const COPY_DONE = Buffer.from([...Buffer.from('c'), 0, 0, 0, 4])

/** A statement of the driver that sends its data at once and is over when the server has taken or refused it. */
class CopyIn extends Query {
  readonly #data: Buffer

  constructor(text: string, data: Buffer, callback: (error: Error | undefined, result: QueryResult) => void) {
    super(text, callback)
    this.#data = data
  }

  /**
   * Called by the client, in place of the driver's own answer, which is that there is no data. The driver's way of sending some
   * copies them first, twice.
   */
  handleCopyInResponse({ stream }: Connection): void {
    const head = Buffer.from([COPY_DATA, 0, 0, 0, 0])
    head.writeUInt32BE(this.#data.length + 4, 1)
    stream.cork()
    stream.write(head)
    stream.write(this.#data)
    stream.write(COPY_DONE)
    stream.uncork()
  }
}
