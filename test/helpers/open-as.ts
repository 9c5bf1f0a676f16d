import { sql } from 'kysely'
import { Client } from 'pg'
import { openDatabase } from '../../src/store/pool.ts'
import { databaseUrl, onServer, type TestDatabase } from './postgres.ts'
import { createTestRole } from './test-role.ts'

export type Reader = Awaited<ReturnType<typeof openAs>>

/** A user of the database with one of the roles that the views are granted to. */
export async function openAs(role: 'livehouse_analyst' | 'livehouse_pii', database: TestDatabase) {
  const user = await createTestRole()
  await onServer(async (admin) => void (await sql`grant ${sql.id(role)} to ${sql.id(user.name)}`.execute(admin)))
  const url = databaseUrl(database.name, user)
  const db = await openDatabase(url, { maxConnections: 2 })
  const session = new Client({ connectionString: url })
  const notices: string[] = []
  session.on('notice', ({ message = '' }) => notices.push(message))
  await session.connect()
  return {
    name: user.name,
    url,
    db,
    /** A session of its own: its notices, and statements that last. */
    session,
    notices,
    [Symbol.asyncDispose]: async () => {
      await session.end()
      await db.destroy()
      await sql`drop owned by ${sql.id(user.name)}`.execute(database.db)
      await user[Symbol.asyncDispose]()
    },
  }
}
