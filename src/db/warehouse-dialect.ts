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
import { translateConnectError, translateStatementError } from './translate-error.ts'

/**
 * Kysely's Postgres dialect with two differences: errors arrive as `LivehouseError` where they are the database's to
 * mend, and the Migrator takes no lock of a session (`migrate.ts` holds one of its transaction instead), because
 * a pooler in transaction mode gives the session to someone else.
 */
export function warehouseDialect(pool: PostgresPool, target: string): Dialect {
  return {
    createAdapter: () => new SessionlessAdapter(),
    createDriver: () => translatingDriver(new PostgresDriver({ pool: () => Promise.resolve(pool) }), target),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

class SessionlessAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

function translatingDriver(inner: Driver, target: string): Driver {
  /** The driver's own connection behind each one that was handed out. */
  const connections = new WeakMap<DatabaseConnection, DatabaseConnection>()
  const innerOf = (connection: DatabaseConnection) => connections.get(connection) ?? connection
  const translated = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw translateStatementError(error, target)
    }
  }
  const wrap = (connection: DatabaseConnection): DatabaseConnection => {
    const wrapped: DatabaseConnection = {
      executeQuery: (query, options) => translated(connection.executeQuery(query, options)),
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
        return wrap(await inner.acquireConnection(options))
      } catch (error) {
        throw translateConnectError(error, target)
      }
    },
    beginTransaction: (connection, settings) => translated(inner.beginTransaction(innerOf(connection), settings)),
    commitTransaction: (connection) => translated(inner.commitTransaction(innerOf(connection))),
    rollbackTransaction: (connection) => translated(inner.rollbackTransaction(innerOf(connection))),
    savepoint: async (connection, name, compile) => inner.savepoint?.(innerOf(connection), name, compile),
    rollbackToSavepoint: async (connection, name, compile) =>
      inner.rollbackToSavepoint?.(innerOf(connection), name, compile),
    releaseSavepoint: async (connection, name, compile) => inner.releaseSavepoint?.(innerOf(connection), name, compile),
    releaseConnection: (connection, options) => inner.releaseConnection(innerOf(connection), options),
    destroy: (options) => inner.destroy(options),
  }
}
