import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Row } from '../../src/core/column.ts'
import type { Database } from '../../src/store/database.ts'
import { signups } from '../../src/streams/signups.ts'
import { replaceChildren } from '../../src/store/children.ts'
import { prepareToLoad } from '../../src/store/load.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'

let database: TestDatabase
let db: Kysely<Database>

beforeAll(async () => {
  database = await createTestDatabase()
  db = database.db
})

afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

beforeEach(async () => {
  await sql`truncate livehouse.signup_answers`.execute(db)
})

/** A signup with an answer to each question; the questions are numbered by their place. */
const signup = (key: string, answers: readonly (readonly [string | null, string | null])[], question = 'q1'): Row => ({
  channel_id: '9',
  question_id: question,
  signup_key: key,
  answers: JSON.stringify(answers.map(([question, answer]) => ({ question, answer }))),
  extra: null,
})

const replace = async (parents: readonly Row[], runId = '1') => {
  await db.transaction().execute(async (trx) => {
    await prepareToLoad(trx, 'Asia/Shanghai')
    if (signups.children) await replaceChildren(trx, signups.children, parents, runId)
  })
}

const readAnswers = async () => {
  const { rows } = await sql<Record<string, unknown>>`
    select signup_key as key, question_no as no, question, answer, run_id from livehouse.signup_answers
    order by question_id, signup_key, question_no`.execute(db)
  return rows.map(({ key, no, question, answer, run_id }) => [key, no, question, answer, run_id])
}

test('answers are numbered from 1 in the order of the questions; equal and empty headers are questions too', async () => {
  await replace([
    signup('a', [
      ['公司', 'x'],
      ['公司', 'b||c'],
      [null, null],
    ]),
  ])
  expect(await readAnswers()).toEqual([
    ['a', 1, '公司', 'x', '1'],
    ['a', 2, '公司', 'b||c', '1'],
    ['a', 3, null, null, '1'],
  ])
})

test('writing the same answers again writes nothing, and one that was edited writes that one', async () => {
  const versions = () => sql`select ctid, xmin from livehouse.signup_answers order by question_no`.execute(db)
  const parents = (second: string) => [
    signup('a', [
      ['q', 'x'],
      ['r', second],
    ]),
  ]
  await replace(parents('y'))
  const before = (await versions()).rows
  await replace(parents('y'), '2')
  expect((await versions()).rows).toEqual(before)
  await replace(parents('z'), '3')
  expect((await versions()).rows[0]).toEqual(before[0])
  expect(await readAnswers()).toEqual([
    ['a', 1, 'q', 'x', '1'],
    ['a', 2, 'r', 'z', '3'],
  ])
})

test('a form that has become shorter leaves no answers behind, nor does one without questions', async () => {
  const long = [
    ['q', 'x'],
    ['r', 'y'],
    ['s', 'z'],
  ] as const
  await replace([signup('a', long), signup('b', long)])
  await replace([signup('a', long.slice(2)), signup('b', [])], '2')
  expect(await readAnswers()).toEqual([['a', 1, 's', 'z', '2']])
})

test('the answers of other signups, and of other questionnaires with a signup of that key, stay', async () => {
  const answers = [
    ['q', 'x'],
    ['r', 'y'],
  ] as const
  await replace([signup('a', answers), signup('b', answers)])
  await replace([signup('a', answers, 'q2')])
  await replace([signup('a', [])], '2')
  expect((await readAnswers()).map(([key]) => key)).toEqual(['b', 'b', 'a', 'a'])
})

test('more answers than one statement takes all land', async () => {
  const answers = Array.from({ length: 40 }, (_, index) => [`q${index}`, 'x'] as const)
  await replace(Array.from({ length: 60 }, (_, index) => signup(`k${index}`, answers)))
  expect(await readAnswers()).toHaveLength(2400)
})
