import { tracingChannel } from 'node:diagnostics_channel'
import { finished } from 'node:stream/promises'
import { type PostgresCursor, type PostgresPool, type PostgresPoolClient, type PostgresQueryResult } from 'kysely'
import { Client, type ClientConfig, Connection, type Pool, type PoolClient, types } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { callIfStillRunning, systemClock } from '../core/clock.ts'
import { codeOf, LivehouseError } from '../core/errors.ts'
import type { Db } from './database.ts'
import {
  isConnectionLoss,
  type NamedTarget,
  translateConnectError,
  translateStatementError,
} from './translate-error.ts'

/** Shows in Node's diagnostics each connection that is opened, each statement, and each pool that is closed. */
const trace = tracingChannel<{ readonly doing: string }>('livehouse:database')
/** How long the pool stays as small as the server made it, before it asks for more connections again. */
const SHORTAGE_MS = 10_000
/** How long a connection is asked for again, where the server has none left. */
const LONGEST_WAIT_MS = 30_000

/**
 * The pool for Kysely's Postgres dialect, with two differences: errors that the operator of the database has to repair
 * arrive as `LivehouseError`, and `copy … from stdin`, alone or after a savepoint, takes its data as the only parameter
 * (in Postgres that statement has none). Where the server has no connection left (53300), the pool makes do for a while
 * with those that it has.
 */
export function translatingPool(pool: Pool, named: NamedTarget): PostgresPool {
  const most = pool.options.max
  // Kysely tells connections apart by their clients.
  const clients = new WeakMap<PoolClient, PostgresPoolClient>()
  let callOff = (): void => {}
  const connect = async (untilMs: number, refusal?: unknown): Promise<PostgresPoolClient> => {
    try {
      const client = await trace.tracePromise(() => pool.connect(), { doing: 'connect' })
      const known = clients.get(client) ?? new TranslatingClient(client, named)
      clients.set(client, known)
      return known
    } catch (error) {
      const isShort = codeOf(error) === '53300' && pool.totalCount > 0
      // All connections of the pool are in use, as with a slow disk.
      const isBusy = error instanceof Error && error.message === 'timeout exceeded when trying to connect'
      const isOver = refusal !== undefined && systemClock.now() > untilMs
      if (isOver || !(isShort || isBusy)) throw translateConnectError(refusal ?? error, named)
      if (isShort) {
        pool.options.max = pool.totalCount
        callOff()
        callOff = callIfStillRunning(SHORTAGE_MS, () => (pool.options.max = most))
      }
      return await connect(untilMs, isShort ? error : refusal)
    }
  }
  return {
    options: pool.options,
    connect: async () => await connect(systemClock.now() + LONGEST_WAIT_MS),
    end: async () => {
      callOff()
      await trace.tracePromise(() => pool.end(), { doing: 'close' })
    },
  }
}

class TranslatingClient implements PostgresPoolClient {
  readonly #client: PoolClient
  readonly #named: NamedTarget
  /** How it was lost, once it is: of what the server said between two statements, later ones tell nothing. */
  #loss: unknown

  constructor(client: PoolClient, named: NamedTarget) {
    this.#client = client
    this.#named = named
    client.on('error', (error) => (this.#loss ??= translateConnectError(error, named)))
  }

  query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  query(text: string | PostgresCursor<unknown>, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new Error('no statement is read through a cursor')
    return this.#run(text, values)
  }

  async #run(text: string, values: readonly unknown[]): Promise<unknown> {
    // The server has rolled back; another error here would hide why.
    if (this.#loss !== undefined && text === 'rollback') return { command: 'ROLLBACK', rowCount: null, rows: [] }
    try {
      return await trace.tracePromise(() => send(this.#client, text, values), { doing: text })
    } catch (error) {
      const translation = translateStatementError(error, this.#named)
      if (!isConnectionLoss(translation)) throw translation
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
 * With keep-alive the system notices that a machine or a network is gone, however long a statement may take: it sends
 * ten probes, a second apart (Node, `socket.setKeepAlive`). Where the statement itself did not arrive, that is repeated
 * first, for some 15 minutes on Linux.
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
 * How values of Postgres arrive: `int8` and `numeric` as exact decimal text and `timestamptz` as `Date`, as the driver
 * does by itself; `date` and `timestamp` as text, because they are readings of the service's calendar and clock that a
 * `Date` would move into this machine's zone. `jsonb` is parsed.
 */
export const pgTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    wallClockTypes.has(oid) ? (value: string) => value : types.getTypeParser(oid, format),
}

/** Sets parameters for this transaction alone, which also works behind a pooler in transaction mode. */
export async function setLocal(trx: Db, settings: Readonly<Record<string, string>>): Promise<void> {
  const entries = Object.entries(settings)
  await trx
    .selectNoFrom((eb) =>
      entries.map(([name, value]) => eb.fn<string>('set_config', [eb.val(name), eb.val(value), eb.lit(true)]).as(name)),
    )
    .execute()
}

/** The driver's client; where the URL has `require_auth=scram-sha-256` (as of libpq), one that insists on SCRAM. */
export function clientFor(url: string): typeof Client {
  return new URL(url).searchParams.get('require_auth') === 'scram-sha-256' ? ScramClient : Client
}

/** Such a client, not connected yet. Where its connection is lost, its statements fail, not the process. */
export function createClient(url: string, config: ClientConfig = {}): Client {
  const client = new (clientFor(url))({ connectionString: url, application_name: 'livehouse', ...config })
  client.on('error', () => {})
  return client
}

/** The URL as every client takes it: libpq knows `require_auth` from version 16 on, others do not. */
export function withoutRequireAuth(url: string): string {
  const plain = new URL(url)
  plain.searchParams.delete('require_auth')
  return plain.href
}

/** Connects only to a server that proves by SCRAM that it knows the password; never sends the password itself. */
class ScramClient extends Client {
  declare readonly sslNegotiation: string

  constructor(config?: ClientConfig) {
    const whole = { ...config, connection: new ScramConnection(config) }
    super(whole)
    // The client has these from the URL and the environment, but passes them only to a connection that it made itself.
    Object.assign(this.connection, { ssl: this.ssl, sslNegotiation: this.sslNegotiation })
  }
}

/** The driver's client acts on the events of its connection: one that is not passed on here has no effect. */
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
      // The client takes this as a finished start, whatever came before it.
      case 'readyForQuery':
        return this.#isProven ? super.emit(event, ...values) : this.#fail('it asks for no proof and gives none')
      case 'authenticationSASLFinal':
        // The client checks the server's signature in this call; where it is wrong it emits an error.
        super.emit(event, ...values)
        this.#isProven = !this.#hasFailed
        return true
      case 'error':
        return isOfScram(values[0]) && !this.#isProven
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

/** Whether SCRAM failed. Errors of the network have a code; a timeout or a missing password is known by its message. */
function isOfScram(error: unknown): error is Error {
  return error instanceof Error && !('code' in error) && !/^timeout expired$|must be a string$/.test(error.message)
}
