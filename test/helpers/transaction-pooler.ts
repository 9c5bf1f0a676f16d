import { Kysely, PostgresDialect } from 'kysely'
import { Pool, type PoolClient } from 'pg'
import type { Database } from '../../src/store/database.ts'

/**
 * A database behind a pooler in transaction mode: each transaction, and each statement outside of one, gets whatever real
 * connection is free.
 */
export function openThroughTransactionPooler(url: string): Kysely<Database> {
  const servers = new Pool({ connectionString: url, max: 3 })
  const connect = async () => {
    let held: PoolClient | undefined
    return {
      query: async (text: string, values: readonly unknown[]) => {
        const isBegin = /^(begin|start transaction)/i.test(text)
        if (isBegin) held = await servers.connect()
        const server = held ?? (await servers.connect())
        try {
          return await server.query(text, [...values])
        } finally {
          if (held === undefined || /^(commit|rollback)/i.test(text)) {
            server.release()
            held = undefined
          }
        }
      },
      release: () => {},
    }
  }
  // Kysely takes any pool of this form; its types name more of a client than it calls.
  const pool = { connect, end: async () => await servers.end(), options: {} }
  // oxlint-disable-next-line no-unsafe-type-assertion
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool: pool as never }) })
}
