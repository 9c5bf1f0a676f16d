import { tracingChannel } from 'node:diagnostics_channel'
import { finished } from 'node:stream/promises'
import { type PostgresCursor, type PostgresPool, type PostgresPoolClient, type PostgresQueryResult } from 'kysely'
import { Client, type ClientConfig, Connection, type Pool, type PoolClient, types } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { callIfStillRunning, systemClock } from '../core/clock.ts'
import { codeOf, LivehouseError } from '../core/errors.ts'
import type { Db } from './database.ts'
import {
  type DatabaseName,
  isConnectionLoss,
  translateConnectError,
  translateStatementError,
} from './translate-error.ts'

/** Reports each new connection, each statement and each closed pool to Node's diagnostics. */
const trace = tracingChannel<{ readonly doing: string }>('livehouse:database')
/** How long the pool stays at its present size after the server had no connection left. */
const SHORTAGE_MS = 10_000
/** How long the pool keeps trying to connect if the server has no connection left. */
const MAX_WAIT_MS = 30_000

/**
 * Adapts a pool to Kysely's Postgres dialect, with two additions: errors that the database's operator has to repair
 * arrive as `LivehouseError`, and `copy … from stdin`, alone or after a savepoint, takes its data as the only parameter
 * (in Postgres that statement has none). If the server has no connection left (53300), the pool works for a while with
 * the ones that it has.
 */
export function translatingPool(pool: Pool, database: DatabaseName): PostgresPool {
  const maxConnections = pool.options.max
  // Kysely identifies a connection by its client object, so each client keeps its wrapper.
  const clients = new WeakMap<PoolClient, PostgresPoolClient>()
  let cancelTimer = (): void => {}
  const connect = async (untilMs: number, refusal?: unknown): Promise<PostgresPoolClient> => {
    try {
      const client = await trace.tracePromise(() => pool.connect(), { doing: 'connect' })
      const wrapper = clients.get(client) ?? new TranslatingClient(client, database)
      clients.set(client, wrapper)
      return wrapper
    } catch (error) {
      const isShort = codeOf(error) === '53300' && pool.totalCount > 0
      // All connections of the pool are in use, because of a slow disk for example.
      const isBusy = error instanceof Error && error.message === 'timeout exceeded when trying to connect'
      const isOver = refusal !== undefined && systemClock.now() > untilMs
      if (isOver || !(isShort || isBusy)) throw translateConnectError(refusal ?? error, database)
      if (isShort) {
        pool.options.max = pool.totalCount
        cancelTimer()
        cancelTimer = callIfStillRunning(SHORTAGE_MS, () => (pool.options.max = maxConnections))
      }
      return await connect(untilMs, isShort ? error : refusal)
    }
  }
  return {
    options: pool.options,
    connect: async () => await connect(systemClock.now() + MAX_WAIT_MS),
    end: async () => {
      cancelTimer()
      await trace.tracePromise(() => pool.end(), { doing: 'close' })
    },
  }
}

class TranslatingClient implements PostgresPoolClient {
  readonly #client: PoolClient
  readonly #database: DatabaseName
  /** Why the connection was lost: the client says so first, and the error of a statement may not show it. */
  #loss: unknown

  constructor(client: PoolClient, database: DatabaseName) {
    this.#client = client
    this.#database = database
    client.on('error', (error) => (this.#loss ??= translateConnectError(error, database)))
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query(text: string | PostgresCursor<unknown>, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new Error('no statement is read through a cursor')
    return this.#run(text, values)
  }

  async #run(text: string, values: readonly unknown[]): Promise<unknown> {
    // The server has already rolled back; another error here would hide the first.
    if (this.#loss !== undefined && text === 'rollback') return { command: 'ROLLBACK', rowCount: null, rows: [] }
    try {
      return await trace.tracePromise(() => send(this.#client, text, values), { doing: text })
    } catch (error) {
      const translation = translateStatementError(error, this.#database)
      if (this.#loss === undefined && !isConnectionLoss(translation)) throw translation
      this.#loss ??= translation
      throw this.#loss
    }
  }

  release(destroy?: boolean): void {
    this.#client.release(destroy === true || this.#loss !== undefined)
  }
}

async function send(client: PoolClient, text: string, values: readonly unknown[]): Promise<unknown> {
  const [data] = values
  if (!(data instanceof Buffer) || !/^(savepoint \w+; )?copy /.test(text)) return await client.query(text, [...values])
  const stream = client.query(copyFrom(text))
  stream.end(data)
  await finished(stream)
  return { command: 'INSERT', rowCount: stream.rowCount, rows: [] }
}

/**
 * Keep-alive lets the system notice that a machine or network is gone, however long a statement may take: it sends ten
 * probes, a second apart (Node, `socket.setKeepAlive`). If the statement itself did not arrive, the system first sends
 * it again and again, for some 15 minutes on Linux.
 */
export const connectionOptions = {
  connectionTimeoutMillis: 10_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
} as const

const { TIMESTAMP, DATE } = types.builtins
const TIMESTAMP_ARRAY = 1115
const DATE_ARRAY = 1182
const wallClockTypes: ReadonlySet<number> = new Set([TIMESTAMP, DATE, TIMESTAMP_ARRAY, DATE_ARRAY])

/**
 * Parses Postgres values as the driver does (`int8` and `numeric` are exact decimal text, `timestamptz` is a `Date`,
 * `jsonb` is parsed), but leaves `date` and `timestamp` as text: they are readings of the service's calendar and clock,
 * and a `Date` would put them into this machine's zone.
 */
export const pgTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    wallClockTypes.has(oid) ? (value: string) => value : types.getTypeParser(oid, format),
}

/** Sets parameters for this transaction only, which also works behind a pooler in transaction mode. */
export async function setLocal(trx: Db, settings: Readonly<Record<string, string>>): Promise<void> {
  const entries = Object.entries(settings)
  await trx
    .selectNoFrom((eb) =>
      entries.map(([name, value]) => eb.fn<string>('set_config', [eb.val(name), eb.val(value), eb.lit(true)]).as(name)),
    )
    .execute()
}

/** The driver's client class, or one that insists on SCRAM if the URL has libpq's `require_auth=scram-sha-256`. */
export function clientFor(url: string): typeof Client {
  return new URL(url).searchParams.get('require_auth') === 'scram-sha-256' ? ScramClient : Client
}

/** Creates that client, not connected yet. A lost connection fails its statements, but does not end the process. */
export function createClient(url: string, config: ClientConfig = {}): Client {
  const client = new (clientFor(url))({ connectionString: url, application_name: 'livehouse', ...config })
  client.on('error', () => {})
  return client
}

/** The URL without `require_auth`, which only libpq 16 and newer knows, so that every client takes it. */
export function withoutRequireAuth(url: string): string {
  const parsed = new URL(url)
  parsed.searchParams.delete('require_auth')
  return parsed.href
}

/** Connects only to a server that proves by SCRAM that it knows the password; never sends the password itself. */
class ScramClient extends Client {
  declare readonly sslNegotiation: string

  constructor(config?: ClientConfig) {
    const ownOptions = { ...config, connection: new ScramConnection(config) }
    super(ownOptions)
    // The client reads these from URL and environment, but passes them only to a connection that it creates itself.
    Object.assign(this.connection, { ssl: this.ssl, sslNegotiation: this.sslNegotiation })
  }
}

/** Filters the events on which the driver's client acts: an event that is not passed on has no effect. */
class ScramConnection extends Connection {
  #isProven = false
  #hasFailed = false

  override emit(event: string, ...values: unknown[]): boolean {
    if (this.#hasFailed && event !== 'end') return false
    switch (event) {
      case 'authenticationCleartextPassword':
      case 'authenticationMD5Password':
        return this.#fail('it asks for the password in another way')
      case 'authenticationOk':
      // The client takes this for a finished start, whatever came before.
      case 'readyForQuery':
        return this.#isProven ? super.emit(event, ...values) : this.#fail('it asks for no proof and gives none')
      case 'authenticationSASLFinal':
        // The client checks the server's signature in this call, and emits an error if it is wrong.
        super.emit(event, ...values)
        this.#isProven = !this.#hasFailed
        return true
      case 'error':
        return isScramFailure(values[0]) && !this.#isProven
          ? this.#fail(values[0].message, values[0])
          : super.emit(event, ...values)
      default:
        return super.emit(event, ...values)
    }
  }

  #fail(detail: string, cause?: Error): boolean {
    this.#hasFailed = true
    this.stream.destroy()
    const reason = `the server does not prove by SCRAM that it knows the password (${detail})`
    const message = `Database: ${reason}, so nothing was sent to it. Find out what listens on that port.`
    return super.emit('error', new LivehouseError('db.refused', message, { reason, sqlState: '28000' }, { cause }))
  }
}

/** Whether SCRAM failed. Network errors have a code; a timeout and a missing password are known by their message. */
function isScramFailure(error: unknown): error is Error {
  return error instanceof Error && !('code' in error) && !/^timeout expired$|must be a string$/.test(error.message)
}
