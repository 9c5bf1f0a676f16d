import { tracingChannel } from 'node:diagnostics_channel'
import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  type PostgresPool,
  PostgresQueryCompiler,
} from 'kysely'
import {
  isConnectionLoss,
  type NamedTarget,
  translateConnectError,
  translateStatementError,
} from './translate-error.ts'
import type { SilenceWatch } from './watch-silence.ts'

/** Where Node's diagnostics show each connection that is being opened, each statement, and each pool that is being closed. */
const trace = tracingChannel<{ readonly doing: string }>('livehouse:database')

/**
 * Kysely's Postgres dialect with two differences: errors arrive as `LivehouseError` where they are the database's to
 * mend, and the Migrator takes no lock of a session (`migrate.ts` holds one of its transaction instead), because
 * a pooler in transaction mode gives the session to someone else.
 */
export function warehouseDialect(pool: PostgresPool, named: NamedTarget, watch: SilenceWatch): Dialect {
  return {
    createAdapter: () => new SessionlessAdapter(),
    createDriver: () => translatingDriver(new PostgresDriver({ pool: () => Promise.resolve(pool) }), named, watch),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

class SessionlessAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

function translatingDriver(inner: Driver, named: NamedTarget, watch: SilenceWatch): Driver {
  /** The driver's own connection behind each one that was handed out. */
  const connections = new WeakMap<DatabaseConnection, DatabaseConnection>()
  /** Those whose server has gone; the driver may not have noticed yet. */
  const lost = new WeakSet<DatabaseConnection>()
  const innerOf = (connection: DatabaseConnection) => connections.get(connection) ?? connection
  const translated = async <T>(connection: DatabaseConnection, work: Promise<T>, doing: string): Promise<T> => {
    const isAnswered = watch.ask()
    try {
      return await trace.tracePromise(() => work, { doing })
    } catch (error) {
      const translation = translateStatementError(error, named)
      if (isConnectionLoss(translation)) lost.add(connection)
      throw translation
    } finally {
      isAnswered()
    }
  }
  const wrap = (connection: DatabaseConnection): DatabaseConnection => {
    const wrapped: DatabaseConnection = {
      executeQuery: (query, options) => translated(wrapped, connection.executeQuery(query, options), query.sql),
      streamQuery: (query, chunkSize, options) => connection.streamQuery(query, chunkSize, options),
      cancelQuery: async (provide) => connection.cancelQuery?.(provide),
      collectSessionInfo: async () => connection.collectSessionInfo?.(),
      killSession: async (provide) => connection.killSession?.(provide),
    }
    connections.set(wrapped, connection)
    return wrapped
  }
  return {
    init: (options) => inner.init(options),
    acquireConnection: async (options) => {
      try {
        return wrap(await trace.tracePromise(() => inner.acquireConnection(options), { doing: 'connect' }))
      } catch (error) {
        throw translateConnectError(error, named)
      }
    },
    beginTransaction: (outer, settings) => translated(outer, inner.beginTransaction(innerOf(outer), settings), 'begin'),
    commitTransaction: (outer) => translated(outer, inner.commitTransaction(innerOf(outer)), 'commit'),
    rollbackTransaction: async (outer) => {
      // The server has rolled back; another error here would hide why.
      if (!lost.has(outer)) await translated(outer, inner.rollbackTransaction(innerOf(outer)), 'rollback')
    },
    savepoint: async (outer, name, compile) => inner.savepoint?.(innerOf(outer), name, compile),
    rollbackToSavepoint: async (outer, name, compile) => inner.rollbackToSavepoint?.(innerOf(outer), name, compile),
    releaseSavepoint: async (outer, name, compile) => inner.releaseSavepoint?.(innerOf(outer), name, compile),
    releaseConnection: async (outer, options) => {
      // A rollback that fails is what makes the driver throw the connection away instead of handing it out again.
      if (lost.has(outer)) await inner.rollbackTransaction(innerOf(outer)).catch(() => {})
      await inner.releaseConnection(innerOf(outer), options)
    },
    destroy: async (options) => {
      const callOff = watch.partWith()
      await trace.tracePromise(() => inner.destroy(options).finally(callOff), { doing: 'close' })
    },
  }
}
