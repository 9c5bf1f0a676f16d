import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { groupPersons } from '../../src/bi/publish/group-persons.ts'
import { publishBi } from '../../src/bi/publish/publish-bi.ts'
import { runQuery } from '../../src/store/pool.ts'
import { audienceQuestions } from '../helpers/bi-questions/audience-questions.ts'
import { broadcastQuestions } from '../helpers/bi-questions/broadcast-questions.ts'
import { CLEARED, moneyQuestions } from '../helpers/bi-questions/money-questions.ts'
import { addOddRows } from '../helpers/bi-questions/odd-rows.ts'
import { groupOf, peopleQuestions } from '../helpers/bi-questions/people-questions.ts'
import { readTruthFacts } from '../helpers/bi-questions/truth-facts.ts'
import { openAs } from '../helpers/open-as.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'

const questions = [...audienceQuestions, ...peopleQuestions, ...moneyQuestions, ...broadcastQuestions]

const introduction = `# Questions and queries

What managers ask, and how \`livehouse_bi\` answers it; the answers are those of a small made-up world. Each query is run in the tests as
\`livehouse_analyst\`, and its answer is compared with one that is computed from the service's records without SQL. docs/bi.md describes the
views.
`

test("each question of a manager has the answer that follows from the service's records", async () => {
  await using pipeline = await startPipeline({ channels: 3, viewers: 150 })
  expect(await pipeline.sync()).toMatchObject({ status: 'ok' })
  const truth = await addOddRows(pipeline.database.db, pipeline.emulator.truth())
  await groupPersons(pipeline.database.db)
  await publishBi(pipeline.database.db, { settings: { currency: 'CNY', masked: undefined } })
  await sql`insert into livehouse_ops.cleared_questions (channel_id, question_id, question_no, question)
    select distinct channel_id, question_id, question_no, question
    from livehouse.signup_answers where question = ${CLEARED}`.execute(pipeline.database.db)
  // Managers belong to the account and have no channel.
  const withoutChannel = questions.filter(({ sql: text }) => !text.includes('is_test')).map(({ title }) => title)
  expect(withoutChannel).toEqual(['Which manager accounts consume the most, and what is their limit?'])
  for (const channel of truth.channels)
    await sql`update livehouse.channels set channel_group = ${groupOf(channel)}
      where channel_id = ${channel.channel_id}`.execute(pipeline.database.db)
  const facts = readTruthFacts(truth)
  await using analyst = await openAs('livehouse_analyst', pipeline.database)
  const sections: string[] = []
  for (const [index, { title, sql: text, answer }] of questions.entries()) {
    const rows = await runQuery(analyst.db, text)
    const cells = rows.map((row) => Object.values(row).map(cellText))
    expect(cells, title).toEqual(answer(facts).map((row) => row.map((cell) => (cell === null ? null : `${cell}`))))
    expect(cells.length, title).toBeGreaterThan(0)
    const columns = Object.keys(rows[0] ?? {})
    const lines = [columns, columns.map(() => '---'), ...cells.map((row) => row.map((cell) => cell ?? 'NULL'))]
    const table = lines.map((line) => `| ${line.join(' | ').replaceAll('\n', ' ')} |`).join('\n')
    sections.push(`## ${index + 1}. ${title}\n\n\`\`\`sql\n${text}\n\`\`\`\n\n${table}\n`)
  }
  const file = join(import.meta.dirname, '../../docs/queries.md')
  await expect([introduction, ...sections].join('\n')).toMatchFileSnapshot(file)
})

function cellText(cell: unknown): string | null {
  if (cell === null) return null
  return typeof cell === 'string' ? cell : JSON.stringify(cell)
}
