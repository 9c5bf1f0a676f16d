import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { planForms } from '../../src/bi/publish/publish-forms.ts'
import { forms } from '../../src/cli/forms.ts'
import { sync } from '../../src/cli/sync.ts'
import { runQuery } from '../../src/store/pool.ts'
import { ofTest } from '../helpers/of-file.ts'
import { openAs } from '../helpers/open-as.ts'
import { createTestDatabase, databaseUrl, type TestDatabase } from '../helpers/postgres.ts'
import { runVerb } from '../helpers/run-verb.ts'
import { startAccount } from '../helpers/start-account.ts'
import { createTestRole } from '../helpers/test-role.ts'

const LONG = '问'.repeat(200)
/** Headers, and how their columns are named. */
const NASTY = [
  [`it's "a"; drop schema livehouse cascade; --`, 'it_s_a_drop_schema_livehouse_cascade'],
  ['<b>电话</b>', '电话'],
  ['phone', 'phone_2'],
  ['电话', '电话_2'],
  ['', 'question_5'],
  ['{zone}', 'zone'],
  ['Select', 'select'],
  [LONG, '问'.repeat(21)],
  [`${LONG}！`, `${'问'.repeat(20)}_2`],
] as const
const headers = NASTY.map(([header]) => header)

const database = ofTest(createTestDatabase)
const runOn = async (url: string, ...argv: string[]) =>
  await runVerb(forms, argv, { environment: { DATABASE_URL: url } })
const run = async (...argv: string[]) => await runOn(database.url, ...argv)

/** A questionnaire with these headers and one signup that answers each question with its number. */
async function addForm(channel: string, question: string, headers: readonly string[], db = database.db) {
  await sql`insert into livehouse.questionnaires (channel_id, question_id, name, run_id)
    values (${channel}, ${question}, ${`'问卷' ${question}`}, 1) on conflict do nothing`.execute(db)
  await setHeaders(db, channel, question, headers)
  const cells = headers.map((header, index) => ({ question: header || null, answer: `answer ${index + 1}` }))
  const answers = JSON.stringify(cells)
  await sql`insert into livehouse.signups (channel_id, question_id, signup_key, phone, signed_up_at, answers, occurrence, run_id)
    values (${channel}, ${question}, 'k', '13800138000', '2026-11-20T03:00:00Z', ${answers}::jsonb, 1, 1)`.execute(db)
  await sql`insert into livehouse.signup_answers (channel_id, question_id, signup_key, question_no, question, answer, run_id)
    select ${channel}, ${question}, 'k', no, a ->> 'question', a ->> 'answer', 1
    from jsonb_array_elements(${answers}::jsonb) with ordinality e (a, no)`.execute(db)
}

async function setHeaders(db: TestDatabase['db'], channel: string, question: string, headers: readonly string[]) {
  const title = JSON.stringify(['用户ID', '昵称', '手机号', ...headers, '报名时间'])
  await sql`insert into livehouse_ops.headers (partition, title, run_id, seen_at)
    values (${`channel=${channel}/question=${question}`}, ${title}::jsonb, 1, now())
    on conflict (partition) do update set title = excluded.title`.execute(db)
}

test('headers of every kind become columns, masked for analysts, with the full headers as comments', async () => {
  await addForm('9', 'Ab-1', headers)
  expect(await run('publish', 'Ab-1')).toMatchObject({ code: 0, error: undefined })
  expect((await run('publish', 'Ab-1')).remarks).toContain('livehouse_forms.form_ab_1 is up to date')
  await using analyst = await openAs('livehouse_analyst', database)
  await using pii = await openAs('livehouse_pii', database)
  const read = async (db: TestDatabase['db']) =>
    (await sql<Record<string, unknown>>`select * from livehouse_forms.form_ab_1`.execute(db)).rows[0] ?? {}
  const names = Object.keys(await read(pii.db)).slice(-NASTY.length)
  expect(names).toEqual(NASTY.map(([, name]) => name))
  const [clear, masked] = [await read(pii.db), await read(analyst.db)]
  expect(names.map((name) => clear[name])).toEqual(NASTY.map((_, index) => `answer ${index + 1}`))
  expect(new Set(names.map((name) => masked[name]))).toEqual(new Set(['***']))
  expect([clear.phone, masked.phone, masked.channel_id]).toEqual(['13800138000', '138****8000', '9'])

  const { rows } = await sql<{ comment: string | null }>`
    select coalesce(col_description(c.oid, a.attnum), '') as comment from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.oid = 'livehouse_forms.form_ab_1'::regclass
    union all select coalesce(obj_description('livehouse_forms.form_ab_1'::regclass), '')
    union all select coalesce(obj_description('livehouse_forms'::regnamespace), '')`.execute(database.db)
  expect(rows.filter(({ comment }) => comment === '')).toEqual([])
  for (const header of headers) expect(rows.some(({ comment }) => comment?.includes(header))).toBe(true)
  await expect(sql`select * from livehouse_ops.published_forms`.execute(analyst.db)).rejects.toThrow('denied')
})

test('analysts see the answers to a cleared question only, until that is undone or its header changes', async () => {
  await addForm('9', 'q', ['城市', '爱好', '城市', ''])
  await run('publish', 'q')
  await using analyst = await openAs('livehouse_analyst', database)
  const readAnswers = async () => {
    const [wide = {}] = await runQuery(analyst.db, 'select 城市, 爱好, 城市_2, question_4 from livehouse_forms.form_q')
    const byQuestion = 'select answer from livehouse_bi.fct_signup_answer order by question_no'
    expect((await runQuery(analyst.db, byQuestion)).map(({ answer }) => answer)).toEqual(Object.values(wide))
    return Object.values(wide)
  }
  expect(await readAnswers()).toEqual(['***', '***', '***', '***'])
  expect((await run('clear', 'q', '2')).printed.join('\n')).toMatch(/^ *2 +爱好 +cleared +爱好$/m)
  expect(await readAnswers()).toEqual(['***', 'answer 2', '***', '***'])
  await run('clear', 'q', '2', '--undo')
  expect(await readAnswers()).toEqual(['***', '***', '***', '***'])
  expect((await run('clear', 'q', '1')).printed.join('\n')).toMatch(/^ *1 .*cleared[^]*\n *3 .*masked.*\n *4 .*masked/m)
  expect(await readAnswers()).toEqual(['answer 1', '***', '***', '***'])
  await run('clear', 'q', '2')
  await setHeaders(database.db, '9', 'q', ['城市', '其他', '城市', ''])
  expect((await run('list', 'q')).printed.join('\n')).toMatch(/^ *1 +城市 +cleared +城市\n *2 +其他 +masked +其他$/m)
})

test('after a sync that brings new headers the view has them and their answers', async () => {
  await using account = await startAccount()
  await account.run(sync, ['--streams', 'questionnaires,signups'])
  const { db } = account.database
  const { rows: largest } = await sql<{ channel: string; question: string }>`
    select channel_id as channel, question_id as question
    from livehouse.signup_answers group by 1, 2 order by count(*) desc limit 1`.execute(db)
  const [{ channel, question } = { channel: '', question: '' }] = largest
  expect(await account.run(forms, ['publish', question, '--channel', channel])).toMatchObject({ code: 0 })
  const [published] = await runQuery(db, 'select view_name from livehouse_ops.published_forms')
  const view = `livehouse_forms.${String(published?.view_name)}`
  // As if it had been read and published with other headers.
  await setHeaders(db, channel, question, ['bygone'])
  await account.run(forms, ['list'])
  await sql`select bygone from ${sql.table(view)}`.execute(db)
  await db.deleteFrom('livehouse_ops.slices').where('stream', '=', 'signups').execute()
  expect(await account.run(sync, ['--streams', 'signups'])).toMatchObject({ code: 0 })
  await expect(sql`select bygone from ${sql.table(view)}`.execute(db)).rejects.toThrow('bygone')
  const { rows } = await sql<Record<string, unknown>>`
    select v.*, a.answer as "*expected" from ${sql.table(view)} v join livehouse.signup_answers a
      on a.channel_id = v.channel_id and a.question_id = v.question_id
      and a.signup_key = v.signup_key and question_no = 1`.execute(db)
  expect(rows.length).toBeGreaterThan(3)
  const names = Object.keys(rows[0] ?? {})
  const first = names[names.indexOf('occurrence') + 1] ?? ''
  expect(rows.map((row) => row[first])).toEqual(rows.map((row) => row['*expected']))
})

test('unknown, ambiguous, unread and unpublished questionnaires, and too many columns, are reported', async () => {
  expect((await run()).printed.join()).toContain('the warehouse has no questionnaire yet')
  await addForm('9', 'q', ['a'])
  await addForm('10', 'q', ['a'])
  await sql`insert into livehouse.questionnaires (channel_id, question_id, run_id)
    values ('9', 'unread', 1)`.execute(database.db)
  const problem = async (...argv: string[]) => (await run(...argv)).problems.join('\n')
  expect(await problem('publish', 'x')).toContain('there is no questionnaire "x" in the warehouse, see livehouse forms')
  expect(await problem('publish', 'q')).toContain('the channels 10, 9 have a questionnaire q; --channel should say')
  expect(await problem('publish', 'q', '--channel', '11')).toContain('no questionnaire "q" of channel 11')
  expect(await problem('publish', 'unread')).toContain('livehouse sync --streams signups reads them')
  expect(await problem('clear', 'q', '2', '--channel', '9')).toContain('there is no question 2: questionnaire q has 1')
  expect(await problem('unpublish', 'q', '--channel', '9')).toContain('is not published')
  for (const channel of ['9', '10']) await run('publish', 'q', '--channel', channel)
  expect((await run()).printed.join('\n')).toMatch(/livehouse_forms.form_q_2[^]*livehouse_forms.form_q /)
  // An upgrade changes them all. If each were planned with all others, 200 would take half a minute.
  await sql`update livehouse_ops.published_forms set fingerprint = null`.execute(database.db)
  expect([...(await planForms(database.db, 'form_q')).keys()]).toEqual(['form_q'])
  const tooMany = expect.stringMatching(/^The view livehouse_forms.form_q is not up to date: .* can have at most \d+ /)
  const many = Array.from({ length: 1700 }, (_, at) => String(at))
  await setHeaders(database.db, '9', 'q', many)
  expect(await run()).toMatchObject({ code: 0, remarks: expect.arrayContaining([tooMany]) })
  await sql`create view public.mine as select from livehouse_forms.form_q`.execute(database.db)
  expect(String((await run('unpublish', 'q', '--channel', '9')).error)).toContain('view public.mine depends on what')
  await sql`drop view public.mine`.execute(database.db)
  expect(await run('unpublish', 'q', '--channel', '9')).toMatchObject({ code: 0 })
  expect((await run('publish', 'q', '--channel', '9')).error).toMatchObject({ code: 'db.refused', message: tooMany })
})

test('a user who may not create the views reads what a DBA must run, and nothing is recorded', async () => {
  await using role = await createTestRole()
  await using empty = await createTestDatabase({ isMigrated: false })
  for (const schema of ['livehouse', 'livehouse_ops', 'livehouse_bi'])
    await sql`create schema ${sql.id(schema)} authorization ${sql.id(role.name)}`.execute(empty.db)
  const run = async (...argv: string[]) => await runOn(databaseUrl(empty.name, role), ...argv)
  await run()
  await addForm('9', 'q', ['a'], empty.db)
  const refused = await run('publish', 'q')
  const message = expect.stringMatching(/permission denied.*create schema livehouse_forms authorization/)
  expect(refused.error).toMatchObject({ code: 'db.refused', message })
  expect((await run('list')).printed.join()).not.toContain('form_q')
  await sql`create schema livehouse_forms authorization ${sql.id(role.name)}`.execute(empty.db)
  expect(await run('publish', 'q')).toMatchObject({ code: 0 })
})
