import { createHmac } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { publishBi } from '../../src/bi/publish/publish-bi.ts'
import { biViews } from '../../src/bi/registry.ts'
import type { TruthRow } from '../../src/emulator/truth.ts'
import type { Database } from '../../src/store/database.ts'
import { runQuery } from '../../src/store/pool.ts'
import { textIn } from '../helpers/bi-questions/truth-facts.ts'
import { ofFile } from '../helpers/of-file.ts'
import { openAs } from '../helpers/open-as.ts'
import { startFilled } from '../helpers/start-filled.ts'

const CLEAR_PHONE = '13800138000'

const account = ofFile(startFilled)
const analyst = ofFile(() => openAs('livehouse_analyst', account.database))
const pii = ofFile(() => openAs('livehouse_pii', account.database))

beforeAll(async () => {
  const [first] = account.emulator.truth().visitors
  await sql`update livehouse.visitors set phone = ${CLEAR_PHONE}
    where user_id = ${first?.user_id}`.execute(account.database.db)
})

async function textsOf(db: Kysely<Database>, view: string): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ text: string }>`
    select distinct value as text from ${sql.table(`livehouse_bi.${view}`)} v, jsonb_each_text(to_jsonb(v))
    where value is not null`.execute(db)
  return new Set(rows.map(({ text }) => text))
}

/** Personal values that must be masked. Addresses that are only a province and a city need not be. */
function secrets(): ReadonlyMap<string, ReadonlySet<string>> {
  const truth = account.emulator.truth()
  const of = (rows: readonly TruthRow[], ...names: readonly string[]) => {
    const texts = rows.flatMap((row) => names.map((name) => textIn(row, name) ?? ''))
    return new Set(texts.filter((text) => text.length > 1))
  }
  const people = [...truth.visitors, ...truth.watch_records, ...truth.gifts, ...truth.signups]
  return new Map([
    ['phones', new Set([...of(people, 'phone'), CLEAR_PHONE])],
    ['addresses', new Set([...of(people, 'address')].filter((address) => address.startsWith('美国')))],
    ['nicknames', of(people, 'nickname', 'visitor_name')],
    ['addresses of machines', of(people, 'last_ip')],
    ['open ids', of(people, 'wx_openid')],
    ['answers', new Set([...of(truth.signup_answers, 'answer')].flatMap((answer) => [answer, ...answer.split('||')]))],
  ])
}

test('no view shows an analyst clear values; livehouse_pii sees every kind of them', async () => {
  const shown = new Set<string>()
  const phones = [...(secrets().get('phones') ?? [])]
  for (const { name } of biViews) {
    const masked = await textsOf(analyst.db, name)
    for (const [kind, values] of secrets()) expect([...masked.intersection(values)], `${kind} in ${name}`).toEqual([])
    const leaks = [...masked].filter((text) => phones.some((phone) => text.includes(phone)))
    expect(leaks, name).toEqual([])
    for (const text of await textsOf(pii.db, name)) shown.add(text)
  }
  for (const [kind, values] of secrets()) expect(shown.intersection(values).size, kind).toBeGreaterThan(0)
  expect([...(secrets().get('open ids') ?? [])].filter((id) => !shown.has(id))).toEqual([])
})

describe('an analyst is refused', () => {
  test.each([
    'select * from livehouse.visitors',
    'select * from livehouse_ops.hash_key',
    'select * from pg_statistic',
    `update livehouse_bi.dim_channel set channel_label = 'x'`,
    `insert into livehouse_bi.dim_channel (channel_id) values ('x')`,
    'create table livehouse_bi.mine (id int)',
    'create schema mine',
    'alter view livehouse_bi.dim_viewer set (security_barrier = false)',
    'set role livehouse_pii',
    'grant livehouse_pii to current_user',
    `copy (select 1) to '/tmp/x'`,
    `copy (select 1) to program 'cat'`,
    `select pg_read_file('PG_VERSION')`,
    `create statistics livehouse_bi.mine on phone, nickname from livehouse.visitors`,
    'select * from livehouse_bi.dim_viewer tablesample system (100)',
    `create function pg_temp.mine(text) returns boolean language sql leakproof as 'select true'`,
  ])('%s', async (statement) => {
    const code = expect.stringMatching(/^(42501|42809|0A000|55000|58P01|2BP01|25P01)$/)
    await expect(analyst.session.query(statement)).rejects.toMatchObject({ code })
  })
})

test('a function that the reader puts into a query, however cheap, sees only masked values', async () => {
  await analyst.session.query(`create function pg_temp.leak(text) returns boolean language plpgsql cost 0.0000001 as
    $$ begin raise notice '%', $1; return true; end $$`)
  // An operator that the planner tries on values from its statistics.
  await analyst.session.query(`create function pg_temp.leaks(text, text) returns boolean language plpgsql immutable cost 0.0000001 as
    $$ begin raise notice '%', $1; return true; end $$;
    create operator pg_temp.~~~ (leftarg = text, rightarg = text, function = pg_temp.leaks, restrict = eqsel, join = eqjoinsel)`)
  for (const { name, columns } of biViews) {
    const shown = Object.keys(columns).filter((column) => columns[column]?.personal)
    for (const column of shown.map((each) => `v.${each}::text`)) {
      for (const query of [
        `where pg_temp.leak(${column})`,
        `where ${column} operator(pg_temp.~~~) 'x'`,
        `join (values ('x')) x (value) on ${column} operator(pg_temp.~~~) x.value`,
        `where exists (select from livehouse_bi.${name} w where pg_temp.leak(${column.replace('v.', 'w.')}))`,
        `group by ${column} having pg_temp.leak(${column})`,
        `order by pg_temp.leak(${column}), ${column} limit 3`,
      ])
        await analyst.session.query(`select 1 from livehouse_bi.${name} v ${query}`)
    }
  }
  expect(analyst.notices.length).toBeGreaterThan(100)
  const notices = new Set(analyst.notices)
  for (const [kind, values] of secrets()) expect([...notices.intersection(values)], kind).toEqual([])
})

test('neither a filter nor an error reveals a clear value', async () => {
  const { session } = analyst
  const divide = (phone: string) =>
    session.query(`select count(1 / (case when phone = '${phone}' then 0 else 1 end)) from livehouse_bi.dim_viewer`)
  await divide(CLEAR_PHONE)
  await expect(divide('138****8000')).rejects.toMatchObject({ code: '22012' })
  const failed = session.query(`select phone::bigint from livehouse_bi.dim_viewer where user_id is not null`)
  await expect(failed).rejects.toMatchObject({ message: expect.stringMatching(/"1\d\d\*{4}\d{4}"/) })
})

test('open ids are shown as HMAC-SHA256 under the key in livehouse_ops, equal for equal ids', async () => {
  const { db } = account.database
  const { rows: keys } = await sql<{ pad: Buffer }>`select inner_pad as pad from livehouse_ops.hash_key`.execute(db)
  const key = keys[0]?.pad.map((byte) => byte ^ 0x36) ?? Buffer.alloc(0)
  const hashOf = (text: string) => createHmac('sha256', key).update(text).digest('hex').slice(0, 32)
  const { rows } = await sql<{ viewer_key: string; open_id: string }>`
    select viewer_key, open_id from livehouse_bi.dim_viewer where open_id is not null order by 1`.execute(analyst.db)
  const known = account.emulator.truth().visitors.filter(({ wx_openid }) => wx_openid !== null)
  const expected = known.map((row) => ({
    viewer_key: `${textIn(row, 'channel_id')}:${textIn(row, 'user_id')}`,
    open_id: hashOf(textIn(row, 'wx_openid') ?? ''),
  }))
  expect(rows).toEqual(expected.toSorted((a, b) => (a.viewer_key < b.viewer_key ? -1 : 1)))
})

test('viewers and persons have the same keys for every reader', async () => {
  const keys = async ({ db }: typeof analyst) =>
    (await sql`select viewer_key, person_key from livehouse_bi.dim_viewer order by 1`.execute(db)).rows
  expect(await keys(analyst)).toEqual(await keys(pii))
})

test('an operator can change what is masked, even to ids that are clear by default', async () => {
  const outerIds = new Set(account.emulator.truth().visitors.flatMap((row) => textIn(row, 'outer_id') ?? []))
  expect((await textsOf(analyst.db, 'dim_person')).intersection(outerIds).size).toBeGreaterThan(0)
  await publishBi(account.database.db, { settings: { currency: undefined, masked: ['outer_id'] } })
  const after = await textsOf(analyst.db, 'dim_person')
  const phones = secrets().get('phones') ?? new Set()
  expect([...after].filter((text) => [...outerIds].some((id) => text.includes(id)))).toEqual([])
  expect(after.intersection(phones).size).toBeGreaterThan(0)
  const masked = ['phone', 'ip', 'open_id', 'nickname', 'address', 'answers'] as const
  await publishBi(account.database.db, { settings: { currency: undefined, masked } })
})

test('answers to a cleared question are shown until the question has another header', async () => {
  const unmasked = `select distinct question_no from livehouse_bi.fct_signup_answer where answer <> '***'`
  const shown = async () => await runQuery(analyst.db, unmasked)
  expect(await shown()).toEqual([])
  const where = 'where question_no = 3 and question is not null and answer is not null'
  const clear = `insert into livehouse_ops.cleared_questions (channel_id, question_id, question_no, question)
    select channel_id, question_id, question_no, question from livehouse.signup_answers ${where} limit 1`
  await runQuery(account.database.db, clear)
  expect(await shown()).toEqual([{ question_no: 3 }])
  await runQuery(account.database.db, `update livehouse.signup_answers set question = 'another' ${where}`)
  expect(await shown()).toEqual([])
})
