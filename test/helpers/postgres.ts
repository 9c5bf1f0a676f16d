import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { inject } from 'vitest'
import type { Database } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/pool.ts'

export type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>

/** Only a hang takes this long: a pool never closes if a failing test has not returned its connection. */
const LONGEST_CLOSING_MS = 30_000

/**
 * Creates a database on the run's server, by default with the schema and the analysts' views. Disposal drops it, even
 * while others are connected.
 */
export async function createTestDatabase({ isMigrated = true, isPublished = true } = {}) {
  const template = isMigrated ? inject('templates')[isPublished ? 'published' : 'migrated'] : 'template0'
  const name = `livehouse_test_${randomUUID().replaceAll('-', '')}`
  await onServer(async (admin) => {
    const { rows } = await sql<{ hasStrategies: boolean }>`
      select current_setting('server_version_num')::integer >= 150000 as "hasStrategies"`.execute(admin)
    // Copies files. By default newer servers copy page by page through the WAL, which takes several times as long.
    const strategy = rows[0]?.hasStrategies === true ? sql`strategy file_copy` : sql``
    await sql`create database ${sql.id(name)} template ${sql.id(template)} encoding 'UTF8' ${strategy}`.execute(admin)
  })
  const url = databaseUrl(name)
  const db = await openDatabase(url)
  const close = db.destroy.bind(db)
  db.destroy = async () => {}
  lent.set(url, db)
  return {
    name,
    url,
    db,
    [Symbol.asyncDispose]: async () => {
      lent.delete(url)
      const isClosed = await Promise.race([close().then(() => true), sleep(LONGEST_CLOSING_MS, false, { ref: false })])
      await onServer(async (admin) => {
        await sql`drop database ${sql.id(name)} with (force)`.execute(admin)
      })
      if (!isClosed) throw new Error(`a transaction or connection of ${name} was left open`)
    },
  }
}

const lent = new Map<string, Kysely<Database>>()

/** Opens a database for a verb. Test databases lend their pool, because a new session costs more than most verbs. */
export const lendDatabase: typeof openDatabase = async (url, options) =>
  (options?.maxConnections === undefined ? lent.get(url) : undefined) ?? (await openDatabase(url, options))

/** The URL of a database on the run's server, for another user if one is given. */
export function databaseUrl(name: string, user?: { readonly name: string; readonly password: string }): string {
  const url = new URL(inject('postgresUrl'))
  url.pathname = `/${name}`
  if (user !== undefined) {
    url.username = user.name
    url.password = user.password
  }
  return url.href
}

/** Shared by all test files of this process: otherwise each test database would need two more logins. */
let administrator: Promise<Kysely<Database>> | undefined

/** Does something as the server's administrator. */
export async function onServer(work: (admin: Kysely<Database>) => Promise<void>): Promise<void> {
  administrator ??= openDatabase(inject('postgresUrl'), { maxConnections: 1 }).catch((error: unknown) => {
    // The next attempt may succeed.
    administrator = undefined
    throw error
  })
  await work(await administrator)
}
