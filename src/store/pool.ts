import { Socket } from 'node:net'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'
import { LivehouseError } from '../core/errors.ts'
import type { Database, Db } from './database.ts'
import { clientFor, connectionOptions, pgTypes, translatingPool } from './driver.ts'
import { type DatabaseName, describeTarget, isConnectionLoss, translateStatementError } from './translate-error.ts'

/** The first version with multirange types and `range_agg`, which the ledger needs. */
const MIN_SERVER_VERSION = 14
const IDLE_TIMEOUT_MS = 30_000

/** A login may have others: unreadable times, "null" for NULL, slow JIT, escapes, deadlines, foreign functions. */
const SESSION = `set datestyle = 'ISO, YMD'; set array_nulls = on; set jit = off; set standard_conforming_strings = on;
  set statement_timeout = 0; set lock_timeout = 0; set search_path = pg_catalog;
  set default_transaction_isolation = 'read committed'`

interface PoolOptions {
  /** Ends the wait for the first connection. */
  readonly signal?: AbortSignal
  readonly maxConnections?: number
  /** The setting or flag that names the database in errors; DATABASE_URL by default. */
  readonly setting?: string
}

/**
 * Opens a pool of connections to a Postgres URL and checks the server. Use it with `await using`, or `destroy()` it:
 * open connections keep the process alive.
 *
 * The URL sets TLS: `?sslmode=verify-full`, `no-verify` or `disable`, with the files `sslrootcert`, `sslcert` and
 * `sslkey`. `require_auth=scram-sha-256` refuses a server that does not prove that it knows the password.
 * `uselibpqcompat=true` gives `require` and `prefer` the meaning that they have in libpq.
 *
 * Behind a pooler in transaction mode the settings of `SESSION` may be lost, so a statement that depends on a setting
 * sets it within its transaction (`setLocal`). No statement has a deadline, since some take long.
 * @throws db.unreachable, db.refused (also from every later statement), db.tooOld, db.encoding
 */
export async function openDatabase(url: string, options: PoolOptions = {}): Promise<Db> {
  const { signal, maxConnections = 6, setting = 'DATABASE_URL' } = options
  signal?.throwIfAborted()
  const database = { target: describeTarget(url), setting }
  const sockets = new Set<Socket>()
  const pool = new Pool({
    Client: clientFor(url),
    connectionString: url,
    application_name: 'livehouse',
    max: maxConnections,
    ...connectionOptions,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    types: pgTypes,
    // The pool cannot give up a connection that it is opening, so an abort destroys the socket.
    stream: () => {
      const socket = new Socket()
      sockets.add(socket)
      return socket.on('close', () => sockets.delete(socket))
    },
    // Other engines may refuse the settings, and are refused below. The pool awaits this, although its types deny it.
    // oxlint-disable-next-line no-misused-promises
    onConnect: async (client) => {
      await client.query(SESSION).catch((error: unknown) => {
        if (isConnectionLoss(translateStatementError(error, database))) throw error
      })
    },
  })
  // Without this listener, the loss of an idle connection would end the process. The pool replaces the connection.
  pool.on('error', () => {})
  const interrupt = () => sockets.forEach((socket) => socket.destroy())
  signal?.addEventListener('abort', interrupt, { once: true })
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: translatingPool(pool, database) }) })
  try {
    // Raw, as nothing is known about the server yet.
    const { rows } = await sql<{ engine: string; version: string; encoding: string }>`
      select version() as engine, current_setting('server_version') as version,
        current_setting('server_encoding') as encoding`.execute(db)
    refuseCockroach(rows[0]?.engine ?? '', database)
    requireServerVersion(rows[0]?.version ?? '', setting)
    requireUtf8(rows[0]?.encoding ?? '', database.target)
    return db
  } catch (error) {
    await db.destroy()
    // Without a password the driver leaves its socket open, and the server waits for the password for a minute.
    interrupt()
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', interrupt)
  }
}

/** Refuses CockroachDB, which speaks the protocol and reports a version of PostgreSQL. @throws db.tooOld */
function refuseCockroach(engine: string, { target, setting }: DatabaseName): void {
  if (!engine.startsWith('CockroachDB')) return
  const message =
    `Database ${target} is a CockroachDB, which has no range types, and livehouse needs them for its ledger. ` +
    `Name a PostgreSQL ${MIN_SERVER_VERSION} or newer with ${setting}.`
  throw new LivehouseError('db.tooOld', message, {})
}

/** Refuses a server that is too old. @throws db.tooOld */
export function requireServerVersion(version: string, setting: string): void {
  if (Number.parseInt(version, 10) >= MIN_SERVER_VERSION) return
  const otherwise = setting === 'DATABASE_URL' ? 'use DATABASE_URL=embedded' : `name another with ${setting}`
  const problem = `The database server is PostgreSQL ${version}; livehouse needs ${MIN_SERVER_VERSION} or newer`
  throw new LivehouseError('db.tooOld', `${problem}. Upgrade it, or ${otherwise}.`, {})
}

/** Refuses any encoding but UTF8, as the service's texts may be in any script. @throws db.encoding */
function requireUtf8(encoding: string, target: string): void {
  if (encoding === 'UTF8') return
  const problem = `Database ${target} has the encoding ${encoding}, which cannot hold every text; livehouse needs UTF8`
  const message = `${problem}. Create another with CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'.`
  throw new LivehouseError('db.encoding', message, {})
}

/** Runs a fixed query whose columns are neither times nor JSON. @returns its rows, with the columns in order */
export async function runQuery(db: Db, text: string) {
  // Raw, as the text is the query.
  const { rows } = await sql.raw<Record<string, string | number | boolean | null>>(text).execute(db)
  return rows
}

/** How many rows a table of schema `livehouse` has. */
export async function countRows(db: Db, table: string): Promise<number> {
  const rows = db.selectFrom(sql.table(`livehouse.${table}`).as('t'))
  return Number((await rows.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow()).count)
}
