import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { DatabaseError } from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { groupPersons } from '../../src/bi/publish/group-persons.ts'
import { publishBi } from '../../src/bi/publish/publish-bi.ts'
import { refreshFigures } from '../../src/bi/publish/refresh-figures.ts'
import { biViews } from '../../src/bi/registry.ts'
import { migrateUp } from '../../src/store/migrate.ts'
import { openSession } from '../../src/store/open-session.ts'
import { runQuery } from '../../src/store/pool.ts'
import { ofFile } from '../helpers/of-file.ts'
import { openAs } from '../helpers/open-as.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const PEOPLE = 500

const database = ofFile(createTestDatabase)
const analyst = ofFile(() => openAs('livehouse_analyst', database))
let phones: readonly string[]

beforeAll(async () => {
  // Gifts and signups name their viewers only by phone.
  for (const statement of [
    `insert into livehouse.channels (channel_id, run_id) values ('9', 1)`,
    `insert into livehouse.visitors (channel_id, user_id, nickname, phone, wx_openid, last_ip, address, run_id)
     select '9', 'u' || n, '观众' || n, '138' || lpad((abs(hashtext(n::text)::bigint) % 100000000)::text, 8, '0'), 'open' || n, ('10.1.' || n % 200 || '.' || n % 250)::inet,
       '浙江杭州西湖' || n, 1 from generate_series(1, ${PEOPLE}) n`,
    `insert into livehouse.gifts (channel_id, gift_type, gift_key, given_at, gift_id, phone, amount, occurrence, run_id)
     select '9', 'prop', md5(user_id), timestamptz '2026-11-01 12:00Z' + interval '1 minute' * right(phone, 3)::int, 1, phone, 1, 1, 1 from livehouse.visitors`,
    `insert into livehouse.signups (channel_id, question_id, signup_key, phone, signed_up_at, answers, occurrence, run_id)
     select '9', 'q', md5(user_id), phone, now(), jsonb_build_array(jsonb_build_object('question', '城市', 'answer', address)), 1, 1 from livehouse.visitors`,
    `insert into livehouse.signup_answers (channel_id, question_id, signup_key, question_no, question, answer, run_id)
     select '9', 'q', md5(user_id), 1, '城市', address, 1 from livehouse.visitors`,
    'create statistics livehouse.of_people on nickname, phone, address from livehouse.visitors',
    'analyze',
  ])
    await runQuery(database.db, statement)
  await groupPersons(database.db)
  phones = (await runQuery(database.db, 'select phone from livehouse.visitors order by user_id')).map(({ phone }) =>
    String(phone),
  )
})

async function readAs(settings: readonly string[], text: string) {
  const { session } = analyst
  await session.query('begin')
  for (const name of settings) await session.query(`set local ${name} = off`)
  const { rows } = await session.query<{ key: string; viewer: string | null }>(text)
  await session.query('rollback')
  return rows
}

describe.each([false, true])('the order of rows reveals nothing about phones; persons stored: %s', (areStored) => {
  beforeAll(async () => {
    if (areStored) await refreshFigures(database.db)
  })

  test.each([
    [[]],
    [['enable_hashjoin', 'enable_nestloop']],
    [['enable_hashjoin', 'enable_nestloop', 'enable_hashagg']],
    [['enable_mergejoin', 'enable_nestloop', 'enable_hashagg']],
    [['enable_hashjoin', 'enable_mergejoin', 'enable_hashagg', 'enable_seqscan']],
  ])('with these planner settings off: %j', async (settings) => {
    const known = await runQuery(
      database.db,
      `select gift_key as key, phone from livehouse.gifts union all select signup_key, phone from livehouse.signups union all
      select p.person_key, v.phone from livehouse_bi.dim_viewer p join livehouse.visitors v using (channel_id, user_id)`,
    )
    const phoneOf = new Map(known.map(({ key, phone }) => [key, String(phone)]))
    for (const [view, key, viewer] of [
      ['fct_gift', 'gift_event_key', 'viewer_key'],
      ['fct_signup', 'signup_key', 'viewer_key'],
      ['fct_signup_answer', 'signup_key', 'viewer_key'],
      ['fct_signup_choice', 'signup_key', 'viewer_key'],
      ['dim_person', 'person_key', 'person_key'],
    ] as const) {
      const rows = await readAs(settings, `select ${key} as key, ${viewer} as viewer from livehouse_bi.${view}`)
      expect(rows.filter((row) => row.viewer !== null)).toHaveLength(PEOPLE)
      const order = rows.map((row) => phoneOf.get(row.key) ?? '')
      const rising = order.filter((phone, index) => index > 0 && phone > (order[index - 1] ?? '')).length
      // Of 499 pairs in random order 250 rise; 40 is six times the standard deviation of 6.5.
      expect(Math.abs(rising - PEOPLE / 2), view).toBeLessThan(40)
    }
  })
})

test('no form of comparison finds a row by its clear phone', async () => {
  const [phone = ''] = phones
  const { session } = analyst
  for (const condition of [
    'phone = $1',
    '(phone, 1) >= ($1, 1) and (phone, 1) <= ($1, 1)',
    'phone like $1',
    'position($1 in phone) > 0',
    'md5(phone) = md5($1)',
    `to_tsvector('simple', phone) @@ to_tsquery('simple', $1)`,
    'v::text like concat($1::text)',
    'exists (select from livehouse_bi.dim_person p where p.person_key = v.person_key and p.phone = $1)',
  ]) {
    const { rows } = await session.query(`select 1 from livehouse_bi.dim_viewer v where ${condition}`, [phone])
    expect(rows, condition).toEqual([])
  }
  await session.query('prepare asked (text) as select 1 from livehouse_bi.dim_viewer where phone = $1')
  expect((await session.query(`execute asked ('${phone}')`)).rows).toEqual([])
  await session.query('begin')
  await session.query(`declare held scroll cursor with hold for select phone from livehouse_bi.dim_viewer`)
  await session.query('commit')
  const { rows: fetched } = await session.query<{ phone: string }>('fetch all from held')
  expect(fetched.filter(({ phone: shown }) => phones.includes(shown))).toEqual([])
  expect(fetched).toHaveLength(PEOPLE)
})

test.each(['fct_gift', 'dim_viewer'])('a query plan of %s does not reveal whether a phone exists', async (view) => {
  const explain = async (phone: string): Promise<string> => {
    const { rows } = await analyst.session.query(`explain
      (analyze, verbose, costs, timing off, summary off, buffers off, format json) select * from livehouse_bi.${view} where phone = '${phone}'`)
    return JSON.stringify(rows).replaceAll(phone, 'PHONE')
  }
  expect(await explain(phones[3] ?? '')).toBe(await explain('13912345678'))
})

test('no catalog that an analyst can read holds personal data or the hash key', async () => {
  const { rows: keys } = await sql<{ hex: string }>`
    select encode(substr(inner_pad, 1, 16), 'hex') as hex from livehouse_ops.hash_key`.execute(database.db)
  const { rows: catalogs } = await analyst.session.query<{ name: string }>(`
    select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('pg_catalog', 'information_schema') and c.relkind in ('r', 'v') and has_table_privilege(c.oid, 'select')`)
  expect(catalogs.length).toBeGreaterThan(100)
  // Passed as parameters, since pg_stat_activity shows the analyst's own statements.
  const secretPatterns = [phones[0], phones[1], '观众17', '西湖17', 'open17', keys[0]?.hex].map((each) => `%${each}%`)
  const leaking: string[] = []
  for (const { name } of catalogs) {
    const search = analyst.session.query(`select from ${name} t where t::text like any ($1) limit 1`, [secretPatterns])
    // Some views are closed to all but superusers by the function behind them.
    const { rows } = await search.catch((error: unknown) => {
      if (error instanceof DatabaseError && error.code === '42501') return { rows: [] }
      throw error
    })
    if (rows.length > 0) leaking.push(name)
  }
  expect(leaking).toEqual([])
  const { rows: definitions } = await analyst.session.query<{ text: string }>(
    `select pg_get_viewdef(c.oid) as text from pg_class c where c.relnamespace = 'livehouse_bi'::regnamespace and c.relkind = 'v'`,
  )
  expect(definitions).toHaveLength(biViews.length)
  expect(definitions.filter(({ text }) => text.includes(keys[0]?.hex ?? ''))).toEqual([])
})

test('no statement and no view calls functions that anybody may create', async () => {
  await using hostile = await createTestDatabase({ isMigrated: false })
  const { db } = hostile
  // Each is a better match for the arguments that the views pass.
  await runQuery(
    db,
    `create function public.convert_to(text, text) returns bytea language sql as $$ select 'caught'::bytea $$;
    create function public.encode(bytea, varchar) returns text language sql as $$ select 'caught' $$;
    create function public.concat(uuid, uuid, uuid) returns text language sql as $$ select 'caught' $$;
    create function public.regexp_replace(text, text, text, varchar) returns text language sql as $$ select 'caught' $$;
    create function public.lower(tsrange) returns timestamp language sql as $$ select 'infinity'::timestamp $$`,
  )
  // A statement of livehouse would run this one with all of livehouse's rights.
  const [lower, right] = [`select lower('[2026-01-01,)'::tsrange)::text`, [{ lower: '2026-01-01 00:00:00' }]]
  await using session = await openSession(hostile.url, 'DATABASE_URL', new AbortController().signal)
  expect([await runQuery(db, lower), await session.query(lower)]).toEqual([right, right])
  await migrateUp(db)
  await publishBi(db)
  const used = `select distinct p.oid::regprocedure::text as name from pg_depend d
    join pg_proc p on d.refclassid = 'pg_proc'::regclass and d.refobjid = p.oid
    join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
    where p.pronamespace = 'public'::regnamespace`
  expect(await runQuery(db, used)).toEqual([])
  const { rows: keys } = await sql<{ pad: Buffer }>`select inner_pad as pad from livehouse_ops.hash_key`.execute(db)
  const key = keys[0]?.pad.subarray(0, 32).map((byte) => byte ^ 0x36)
  expect(key).not.toEqual(createHash('sha256').update('caught').digest())
})
