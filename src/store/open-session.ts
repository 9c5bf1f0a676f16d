import type { QueryResultRow } from 'pg'
import { connectionOptions, createClient } from './driver.ts'
import { describeTarget, translateConnectError, translateStatementError } from './translate-error.ts'

/** A connection outside of the pool: for COPY streams within a transaction, and for queries of analysts. */
export type Session = Awaited<ReturnType<typeof openSession>>

/**
 * Opens a session. `setting` names the database in errors. The session sets the formats of values, so that both sides
 * of a copy use the same, and lifts the deadlines of statements.
 * @throws db.unreachable, db.refused, also from each statement
 */
export async function openSession(url: string, setting: string, signal: AbortSignal) {
  signal.throwIfAborted()
  const database = { target: describeTarget(url), setting }
  const client = createClient(url, connectionOptions)
  const hangUp = () => client.connection.stream.destroy()
  signal.addEventListener('abort', hangUp, { once: true })
  let loss: unknown
  client.on('error', (error) => (loss ??= translateConnectError(error, database)))
  const translate = (error: unknown): unknown =>
    signal.aborted ? signal.reason : (loss ?? translateStatementError(error, database))
  const close = async (): Promise<void> => {
    // Fails if the server is gone.
    await client.end().catch(() => {})
    signal.removeEventListener('abort', hangUp)
  }
  try {
    await client.connect()
    await client.query(
      `set timezone to 'UTC'; set datestyle to iso, ymd; set extra_float_digits to 1; set bytea_output to hex;
        set statement_timeout to 0; set lock_timeout to 0; set search_path to pg_catalog`,
    )
  } catch (error) {
    await close()
    throw signal.aborted ? signal.reason : translateConnectError(error, database)
  }
  return {
    /** The driver's own connection, which takes COPY streams. */
    client,
    query: async <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) => {
      try {
        return (await client.query<Row>(text, [...values])).rows
      } catch (error) {
        throw translate(error)
      }
    },
    /** Translates an error of a COPY stream of this connection; `query` translates its own. */
    translate,
    [Symbol.asyncDispose]: close,
  }
}
