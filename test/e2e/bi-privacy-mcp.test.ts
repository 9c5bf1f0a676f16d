import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { groupPersons } from '../../src/bi/publish/group-persons.ts'
import { ofFile } from '../helpers/of-file.ts'
import { openAs } from '../helpers/open-as.ts'
import { openAssistant } from '../helpers/open-assistant.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const CLEAR_PHONE = '13800138000'
const LOCK = 6_100_061

const database = ofFile(createTestDatabase)
const user = ofFile(() => openAs('livehouse_analyst', database))

beforeAll(async () => {
  await sql`insert into livehouse.channels (channel_id, run_id) values ('9', 1)`.execute(database.db)
  await sql`insert into livehouse.visitors (channel_id, user_id, phone, run_id)
    values ('9', 'u1', ${CLEAR_PHONE}, 1)`.execute(database.db)
  await groupPersons(database.db)
})

const roleAttacks = [
  'reset role',
  `select set_config('session_authorization', 'postgres', false)`,
  `select set_config('role', 'livehouse_pii', false)`,
  `select set_config('role', 'none', false), query_to_xml('select * from livehouse.visitors', true, true, '')`,
  `select set_config('role', 'none', true), query_to_xml('table livehouse_ops.hash_key', true, true, '')`,
  `select query_to_xml('reset role', true, true, ''), query_to_xml('table livehouse.visitors', true, true, '')`,
]
const otherAttacks = [
  // Attempts to leave the transaction, the cursor or the statement.
  'commit',
  'select 1; commit; select phone from livehouse.visitors',
  `do $$ begin perform set_config('role', 'none', false); end $$`,
  // Attempts to write.
  `select set_config('transaction_read_only', 'off', true)`,
  'with gone as (delete from livehouse.visitors returning 1) select * from gone',
  'select 1 as id into temp mine',
  'select * from livehouse_bi.dim_viewer for update',
  `select lo_import('/etc/passwd')`,
  'select pg_reload_conf()',
  'select pg_terminate_backend(pid) from pg_stat_activity where usename <> session_user',
  // Attempts to read what analysts may not.
  'table livehouse.visitors',
  `select * from dblink('dbname=postgres', 'select 1') as t (id int)`,
  '',
]

describe.each([
  ['an analyst', [...roleAttacks, ...otherAttacks]],
  // Its queries run with the login of an analyst, so the other attacks would test the same.
  ['the owner', roleAttacks],
])('with the login of %s', (login, attacks) => {
  const url = () => (login === 'the owner' ? database.url : user.url)
  const assistant = ofFile(() => openAssistant({ DATABASE_URL: url() }, ['--timeout', '5']))
  const query = (text: string) => assistant.call('query', { sql: text })

  test.each(attacks)('%s is refused', async (text) => {
    const { isError, text: message } = await query(text)
    expect([isError, message]).toEqual([true, expect.stringMatching(/\((42|25|0A|22|57|55)\w{3}\)/)])
    expect(message).not.toContain(CLEAR_PHONE)
    expect(message).not.toMatch(/postgres:\/\/|password/i)
  })

  test('a query that switches its role while it runs still sees masked values', async () => {
    for (const role of ['none', login === 'an analyst' ? user.name : 'livehouse_analyst']) {
      const { text } = await query(
        `with taken as materialized (select set_config('role', '${role}', true))
         select set_config, phone from taken, dim_viewer`,
      )
      expect(JSON.parse(text).rows).toEqual([[role, '138****8000']])
    }
  })

  test('a query has no effect on the next one and leaves nothing behind', async () => {
    const settings = ['statement_timeout', 'search_path', 'default_transaction_read_only', 'idle_session_timeout']
    const read = `select ${settings.map((name) => `current_setting('${name}')`).join(', ')}, current_user`
    const before = JSON.parse((await query(read)).text).rows
    for (const name of settings) await query(`select set_config('${name}', '0', false)`)
    // PostgreSQL before version 16 executes it, and the end of the transaction undoes it.
    await query(`select lo_from_bytea(lo_create(6100061), 'x')`)
    expect(await query(`select pg_advisory_lock(${LOCK}), pg_notify('mine', 'x')`)).toMatchObject({ isError: false })
    expect(JSON.parse((await query(read)).text).rows).toEqual(before)
    await database.db.transaction().execute(async (transaction) => {
      await sql`select set_config('lock_timeout', '30s', true)`.execute(transaction)
      await sql`select pg_advisory_xact_lock(${LOCK})`.execute(transaction)
    })
    const { rows } = await sql`select (select count(*) from pg_largeobject_metadata) as objects,
      (select count(*) from livehouse.visitors) as visitors`.execute(database.db)
    expect(rows).toEqual([{ objects: '0', visitors: '1' }])
  })
})
