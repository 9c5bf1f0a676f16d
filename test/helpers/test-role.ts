import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { onServer } from './postgres.ts'

/** Creates a user without rights on the run's server. Create it before its database, so that it is dropped later. */
export async function createTestRole() {
  const name = `livehouse_test_${randomUUID().slice(0, 8)}`
  const password = randomUUID()
  await onServer(async (admin) => {
    await sql`create role ${sql.id(name)} login password ${sql.lit(password)}`.execute(admin)
  })
  return {
    name,
    password,
    [Symbol.asyncDispose]: () => onServer(async (admin) => void (await sql`drop role ${sql.id(name)}`.execute(admin))),
  }
}
