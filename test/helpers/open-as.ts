import { sql } from 'kysely'
import { Client } from 'pg'
import { openDatabase } from '../../src/store/pool.ts'
import { databaseUrl, onServer, type TestDatabase } from './postgres.ts'
import { createTestRole } from './test-role.ts'

/** Opens the database as a new user with one of the roles to which the views are granted. */
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
    /** A separate session, for long statements and for notices. */
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
