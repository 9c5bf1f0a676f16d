import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { publishBi } from '../../../src/bi/publish/publish-bi.ts'
import { migrateUp } from '../../../src/store/migrate.ts'
import { openDatabase } from '../../../src/store/pool.ts'
import { type Grants, grantSql, readGrants } from '../../../src/bi/publish/read-grants.ts'
import { createTestDatabase, databaseUrl } from '../../helpers/postgres.ts'
import { createTestRole } from '../../helpers/test-role.ts'

const nothingLacks: Grants = {
  database: 'warehouse',
  user: 'livehouse',
  owner: 'livehouse',
  canMigrate: true,
  hasClosedTables: false,
  bi: { missingSchemas: [], foreignSchemas: [], foreignViews: [], missingRoles: [] },
}
const { bi } = nothingLacks

test('roles that the user may not create are for a DBA, also where everything else is there', () => {
  expect(grantSql(nothingLacks)).toEqual(['-- Rights of "livehouse" on database "warehouse": nothing is missing.'])
  const text = grantSql({ ...nothingLacks, bi: { ...bi, missingRoles: ['livehouse_analyst'] } }).join('\n')
  expect(text).toMatch(/create role livehouse_analyst nologin;[^]*create role livehouse_pii nologin;/)
})

test('views stay with whom the tables stay with', () => {
  const closed: Grants = {
    ...nothingLacks,
    canMigrate: false,
    owner: 'dba',
    bi: { ...bi, missingSchemas: ['livehouse_bi'] },
  }
  expect(grantSql(closed).join('\n')).not.toContain('SCHEMA livehouse_bi AUTHORIZATION')
  expect(grantSql(closed).join('\n')).toContain('views of livehouse_bi stay with "dba"')
})

test('what is printed for a user who owns the tables alone is what lacks for publishing', async () => {
  await using role = await createTestRole()
  await using database = await createTestDatabase({ isMigrated: false })
  const { db: admin, name } = database
  for (const schema of ['livehouse', 'livehouse_ops', 'livehouse_forms']) {
    await sql`create schema ${sql.id(schema)} authorization ${sql.id(role.name)}`.execute(admin)
  }
  await sql`alter schema livehouse_forms owner to current_user`.execute(admin)
  await using db = await openDatabase(databaseUrl(name, role))
  await migrateUp(db)
  expect((await publishBi(db)).status).toBe('blocked')
  const grants = grantSql(await readGrants(db)).join('\n')
  expect(grants).toContain(`CREATE SCHEMA livehouse_bi AUTHORIZATION "${role.name}";`)
  expect(grants).toContain(`ALTER SCHEMA livehouse_forms OWNER TO "${role.name}";`)
  await sql.raw(grants).execute(admin)
  expect(await publishBi(db)).toEqual({ status: 'published' })
  expect(grantSql(await readGrants(db)).join()).toContain('nothing is missing')

  await sql`alter view livehouse_bi.dim_date owner to current_user`.execute(admin)
  await sql`update livehouse_ops.bi_settings set fingerprint = 'older'`.execute(db)
  expect((await publishBi(db)).status).toBe('blocked')
  await sql.raw(grantSql(await readGrants(db)).join('\n')).execute(admin)
  expect(await publishBi(db)).toEqual({ status: 'published' })
})
