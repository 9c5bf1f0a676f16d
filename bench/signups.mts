import { type Kysely, sql } from 'kysely'
import { publishBi } from '../src/bi/publish/publish-bi.ts'
import { publishForms } from '../src/bi/publish/publish-forms.ts'
import { systemClock } from '../src/core/clock.ts'
import { addPublishedForm } from '../src/ledger/questionnaires.ts'
import type { Database } from '../src/store/database.ts'
import { migrateUp } from '../src/store/migrate.ts'
import { withScratchDatabase } from './lib/scratch-database.mts'

/**
 * `npm run bench:signups` measures questionnaires' views as `livehouse_analyst`, compared with counting the answers.
 * One questionnaire has 200 questions with headers of about 200 characters, and 20,000 signups (or the argument).
 */

const SIGNUPS = Number(process.argv[2] ?? 20_000)
const QUESTIONS = 200
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(new Error(name)))

/** About 200 characters that differ only at the end, beyond the 63 bytes of a name. */
const header = `repeat('请您如实填写与本次培训有关的下列内容', 10) || '：第' || lpad(no::text, 3, '0') || '题，可多选，没有可不填写'`

const fillings: readonly string[] = [
  `insert into livehouse.channels (channel_id, run_id) values ('1', 1)`,
  `insert into livehouse.questionnaires (channel_id, question_id, name, run_id) values ('1', 'q', '问卷', 1)`,
  `insert into livehouse_ops.headers (partition, title, run_id, seen_at) select 'channel=1/question=q',
    jsonb_build_array('用户ID', '昵称', '手机号') || jsonb_agg(${header} order by no) || jsonb_build_array('报名时间'), 1, now()
  from generate_series(1, ${QUESTIONS}) no`,
  `insert into livehouse.visitors (channel_id, user_id, phone, first_login_at, run_id)
  select '1', 'u' || n, '138' || lpad((n * 7919 % 100000000)::text, 8, '0'), now(), 1 from generate_series(1, ${SIGNUPS}) n`,
  // A year of signups. Half of them name their viewer, the others only a phone.
  `insert into livehouse.signup_answers (channel_id, question_id, signup_key, question_no, question, answer, run_id)
  select '1', 'q', md5(n::text), no, ${header}, case no % 4 when 0 then null when 1 then '选项A||选项B' || n % 7 else '回答' || n * no % 1000 end, 1
  from generate_series(1, ${SIGNUPS}) n, generate_series(1, ${QUESTIONS}) no`,
  `insert into livehouse.signups (channel_id, question_id, signup_key, user_id, phone, signed_up_at, answers, occurrence, run_id)
  select '1', 'q', md5(n::text), case n % 2 when 0 then 'u' || n end, '138' || lpad((n * 7919 % 100000000)::text, 8, '0'),
    timestamptz '2026-01-01 00:00Z' + interval '1 second' * (n::bigint * 31536000 / ${SIGNUPS}), x.answers, 1, 1
  from generate_series(1, ${SIGNUPS}) n, lateral (
    select jsonb_agg(jsonb_build_object('question', ${header}, 'answer',
      case no % 4 when 0 then null when 1 then '选项A||选项B' || n % 7 else '回答' || n * no % 1000 end) order by no) as answers
    from generate_series(1, ${QUESTIONS}) no) x`,
]

const month = `day between date '2026-08-01' and date '2026-08-31'`
const FORM = 'livehouse_forms.form_q'

function questionsOn(answer: string): readonly string[] {
  return [
    'select * from livehouse_bi.dim_questionnaire',
    'select count(*) from livehouse_bi.fct_signup',
    `select day, match_basis, count(*) from livehouse_bi.fct_signup where ${month} group by 1, 2`,
    `select sum(answer_count) from livehouse_bi.fct_signup where ${month}`,
    'select count(*) from livehouse_bi.fct_signup_answer',
    `select question_no, count(*) from livehouse_bi.fct_signup_answer where ${month} and is_answered group by 1`,
    `select option, count(*) from livehouse_bi.fct_signup_choice where question_no = 5 group by 1`,
    `select option, count(*) from livehouse_bi.fct_signup_choice where ${month} and question_no = 5 group by 1`,
    `select count(*) from ${FORM}`,
    `select ${answer}, count(*) from ${FORM} group by 1`,
    `select ${answer}, count(*) from ${FORM} where ${month} group by 1`,
    `select * from ${FORM} where ${month}`,
    `select * from ${FORM} limit 100`,
  ]
}

async function timeOf(db: Kysely<Database>, question: string, role = 'livehouse_analyst'): Promise<number> {
  stop.signal.throwIfAborted()
  const startedAt = systemClock.now()
  await db.transaction().execute(async (transaction) => {
    await sql`select set_config('role', ${role}, true)`.execute(transaction)
    await sql.raw(question).execute(transaction)
  })
  return systemClock.now() - startedAt
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function publish(db: Kysely<Database>, what: string): Promise<void> {
  const startedAt = systemClock.now()
  const { views, notices } = await publishForms(db)
  const memory = Math.round(process.memoryUsage.rss() / 1_048_576)
  say(
    `${systemClock.now() - startedAt} ms ${what}: ${[...views, ...notices].join(', ') || 'nothing to do'}; this process has ${memory} MB`,
  )
}

await withScratchDatabase(stop.signal, async (db) => {
  await migrateUp(db)
  for (const filling of fillings) await sql.raw(filling).execute(db)
  await sql`vacuum (analyze)`.execute(db)
  const { rows: sizes } = await sql<{ answers: string; signups: string }>`
    select pg_size_pretty(pg_total_relation_size('livehouse.signup_answers')) as answers,
      pg_size_pretty(pg_total_relation_size('livehouse.signups')) as signups`.execute(db)
  say(
    `${SIGNUPS} signups with ${QUESTIONS} questions: signup_answers ${sizes[0]?.answers}, signups ${sizes[0]?.signups}`,
  )
  await publishBi(db)
  await addPublishedForm(db, { channelId: '1', questionId: 'q' })
  await publish(db, 'to publish the views')
  await publish(db, 'to publish them again')
  await sql`update livehouse_ops.headers set title = jsonb_insert(title, '{3}', '"新题"')`.execute(db)
  await publish(db, 'to publish a new question in front')
  const { rows: columns } = await sql<{ name: string; bytes: number }>`
    select attname as name, octet_length(attname) as bytes from pg_attribute
    where attrelid = 'livehouse_forms.form_q'::regclass and attnum > 0 order by attnum`.execute(db)
  say(`${columns.length} columns, the longest name has ${Math.max(...columns.map(({ bytes }) => bytes))} bytes`)
  await sql`update livehouse_ops.headers set title = title - 3`.execute(db)
  await publish(db, 'to publish the old questions again')
  const answer = `"${columns.at(-2)?.name ?? ''}"`
  const plain = 'select count(answer) from livehouse.signup_answers'
  say('      ms  times the plain count of answers')
  for (const question of questionsOn(answer)) {
    const plainMs = await timeOf(db, plain, 'none')
    await timeOf(db, question)
    const ms = await timeOf(db, question)
    say(`${String(ms).padStart(8)}  ${(ms / plainMs).toFixed(3).padStart(7)}  ${question.replaceAll(/\s+/g, ' ')}`)
  }
})
