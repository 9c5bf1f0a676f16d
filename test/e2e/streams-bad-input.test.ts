import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { EndpointName } from '../../src/emulator/endpoint.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Signup } from '../../src/emulator/world/world.ts'
import { fieldValue, foreignRow } from '../helpers/fault-effects.ts'
import { firstRows } from '../helpers/first-rows.ts'
import { ofTest } from '../helpers/of-file.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'

/** Streams whose items are objects, with a text field and another one of each. */
const objects: readonly (readonly [EndpointName, string, string, string])[] = [
  ['visitorList', 'visitors', 'nick', 'watch_time'],
  ['userRecordList', 'watch_records', 'nick', 'watch_time'],
  ['getQuestionList', 'questionnaires', 'name', 'position'],
  ['managers', 'managers', 'username', 'pay_type'],
  ['managersUsage', 'manager_usage', 'costType', 'costLimit'],
]

/** For an index. */
const tooLong = Array.from({ length: 4000 }, (_, index) => (index * 7919).toString(36)).join('')
const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`)

const pipeline = ofTest(() => startPipeline({ channels: 1, days: 1 }))

test('unreadable values and unknown fields stand in extra, exactly, and a row that is none in quarantine: told once over all runs', async () => {
  for (const [endpoint, , text, other] of objects) {
    for (const effect of [
      fieldValue(other, '1,000.00'),
      fieldValue(text, 'a\u0000\ud800👍'),
      fieldValue('odd\u0000', { 'k\u0000': ['\u0000', 9_007_199_254_740_991] }),
      fieldValue('__proto__', 1),
      fieldValue('deep', nested(150)),
    ])
      pipeline.emulator.faults.push({ effect, endpoint })
    pipeline.emulator.faults.push({ effect: foreignRow(['no', { row: '\u0000' }]), endpoint, page: 1 })
  }
  const { log, lines } = createRecordingLog()
  for (let run = 0; run < 2; run++) {
    const result = await pipeline.sync({ log })
    expect(result).toMatchObject({ status: 'ok', errors: [] })
    for (const [, name] of objects) {
      const counts = result.streams[name]?.counts
      const landed = (counts?.inserted ?? 0) + (counts?.unchanged ?? 0)
      expect(counts, name).toMatchObject({ quarantined: 1, updated: 0, degraded: landed })
    }
  }
  const reported = lines.filter(({ event }) => event === 'fields.unknown').map(({ fields }) => String(fields.stream))
  expect(reported.toSorted()).toEqual(objects.map(([, name]) => name).toSorted())

  for (const [, table, , other] of objects) {
    const { rows } = await sql<{ extra: Readonly<Record<string, unknown>> }>`
      select extra from ${sql.table(`livehouse.${table}`)}`.execute(pipeline.database.db)
    expect(rows.length, table).toBeGreaterThan(0)
    for (const { extra } of rows) {
      expect(extra, table).toMatchObject({ [other]: '1,000.00', odd: { k: ['', 9_007_199_254_740_991] } })
      expect(Object.keys(extra).toSorted(), table).toEqual(['__proto__', 'deep', 'odd', other].toSorted())
    }
  }
  const { rows } = await sql`select distinct nickname from livehouse.visitors`.execute(pipeline.database.db)
  expect(rows).toEqual([{ nickname: 'a\ufffd👍' }])
  const { rows: kept } = await sql`
    select distinct stream, raw from livehouse_ops.quarantine`.execute(pipeline.database.db)
  const expected = objects.map(([, stream]) => ({ stream, raw: '["no",{"row":""}]' }))
  expect(new Set(kept)).toEqual(new Set(expected))
})

test('what is too long for an index is no key: quarantine; a visit whose viewer id or field name is lands with it', async () => {
  const { faults } = pipeline.emulator
  faults.push({ effect: fieldValue('user_id', tooLong, 0), endpoint: 'visitorList' })
  faults.push({ effect: fieldValue('question_id', tooLong, 0), endpoint: 'getQuestionList' })
  faults.push({ effect: fieldValue('user_id', tooLong, 0), endpoint: 'userRecordList', page: 1 })
  faults.push({ effect: fieldValue(tooLong, 1, 1), endpoint: 'userRecordList', page: 1 })
  const expected = {
    visitors: { counts: { quarantined: 1, inserted: 59 } },
    questionnaires: { counts: { quarantined: 1, inserted: 2 } },
    watch_records: { counts: { degraded: 1 } },
  }
  const result = await pipeline.sync({ streams: Object.keys(expected) })
  expect(result).toMatchObject({ status: 'ok', errors: [], streams: expected })
  const { rows } = await sql`select user_id, extra from livehouse.watch_records where extra is not null
    order by user_id nulls first`.execute(pipeline.database.db)
  expect(rows).toEqual([
    { user_id: null, extra: { user_id: tooLong } },
    { user_id: expect.any(String), extra: { [tooLong]: 1 } },
  ])
})

test('headers, cells and answers are free text: NUL, lone surrogates, emoji, ten megabytes', async () => {
  const { channel, form, signup } = firstRows(pipeline.emulator)
  const questions = ['\u0000', '\ud800?', '👍'.repeat(100), '手机号', '']
  const long = 'x'.repeat(10_000_000)
  const answers = ['a\u0000b', '\udfff', '"\n||', long, '']
  channel.questionnaires.replace(form, {
    ...form,
    questions,
    signups: createRowList<Signup>([{ ...signup, answers }]),
  })
  const asked = { streams: ['questionnaires', 'signups'] }
  for (let run = 0; run < 2; run++) expect(await pipeline.sync(asked)).toMatchObject({ status: 'ok', errors: [] })
  const { rows } = await sql<{ question: string; answer: string }>`
    select question, answer from livehouse.signup_answers where question_id = ${form.questionId}
    order by question_no`.execute(pipeline.database.db)
  expect(rows.map(({ question }) => question)).toEqual([null, '\ufffd?', '👍'.repeat(100), '手机号', null])
  expect(rows.map(({ answer }) => answer)).toEqual(['ab', '\ufffd', '"\n||', long, null])
})
