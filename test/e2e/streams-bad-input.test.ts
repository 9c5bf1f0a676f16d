import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { readForms } from '../../src/bi/publish/publish-forms.ts'
import type { Row } from '../../src/core/column.ts'
import type { Stream } from '../../src/core/stream.ts'
import { createRowList } from '../../src/emulator/world/row-list.ts'
import type { Signup } from '../../src/emulator/world/world.ts'
import { replaceChildren } from '../../src/store/load/children.ts'
import { loadRows, prepareToLoad } from '../../src/store/load/load.ts'
import { streams } from '../../src/streams/registry.ts'
import { visitors } from '../../src/streams/visitors.ts'
import { identifyRows } from '../../src/sync/extract-unkeyed.ts'
import { fieldNames, itemReader } from '../../src/transform/read-item.ts'
import { fieldValue, foreignRow } from '../helpers/fault-effects.ts'
import { firstRows } from '../helpers/first-rows.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { createRecordingLog } from '../helpers/recording-log.ts'
import { pageOf } from '../helpers/scripted-pages.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'

/** Streams whose items are objects, each with a text field and another field. */
const objects: readonly (readonly [string, string, string, string])[] = [
  ['visitorList', 'visitors', 'nick', 'watch_time'],
  ['userRecordList', 'watch_records', 'nick', 'watch_time'],
  ['getQuestionList', 'questionnaires', 'name', 'position'],
  ['managers', 'managers', 'username', 'pay_type'],
  ['managersUsage', 'manager_usage', 'costType', 'costLimit'],
]

/** Too long for an index. */
const tooLong = Array.from({ length: 4000 }, (_, index) => (index * 7919).toString(36)).join('')
const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`)

const start = async () => await startPipeline({ channels: 1, days: 1 })

test('bad values and unknown fields go to extra, non-rows to quarantine; unknown fields are logged once', async () => {
  await using pipeline = await start()
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
  const { rows: quarantined } = await sql`
    select distinct stream, raw from livehouse_ops.quarantine`.execute(pipeline.database.db)
  expect(new Set(quarantined)).toEqual(new Set(objects.map(([, stream]) => ({ stream, raw: '["no",{"row":""}]' }))))
})

test('a key too long for an index is quarantined; a visit with such a viewer id or field name lands', async () => {
  await using pipeline = await start()
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
  await using pipeline = await start()
  const { channel, form, signup } = firstRows(pipeline.emulator)
  const questions = ['\u0000', '\ud800?', '👍'.repeat(100), '手机号', '', ...JSON.parse('[null, 5]')]
  const long = 'x'.repeat(10_000_000)
  const signups = createRowList<Signup>([{ ...signup, answers: ['a\u0000b', '\udfff', '"\n||', long, '', '', ''] }])
  channel.questionnaires.replace(form, { ...form, questions, signups })
  const options = { streams: ['questionnaires', 'signups'] }
  for (let run = 0; run < 2; run++) expect(await pipeline.sync(options)).toMatchObject({ status: 'ok', errors: [] })
  const { rows } = await sql<{ question: string; answer: string }>`
    select question, answer from livehouse.signup_answers where question_id = ${form.questionId}
    order by question_no`.execute(pipeline.database.db)
  const headers = [null, '\ufffd?', '👍'.repeat(100), '手机号', null, null, '5']
  expect(rows.map(({ question }) => question)).toEqual(headers)
  const known = (await readForms(pipeline.database.db)).find(({ questionId }) => questionId === form.questionId)
  expect(known?.questions).toEqual(headers)
  expect(rows.map(({ answer }) => answer)).toEqual(['ab', '\ufffd', '"\n||', long, null, null, null])
})

const nestedObjects = (levels: number): unknown => JSON.parse(`${'{"a":['.repeat(levels)}1${']}'.repeat(levels)}`)

/** Every JSON type and its extremes, and what services have been seen to send. */
const kinds: readonly (readonly unknown[])[] = [
  [undefined, null, true, false, '', ' ', 'x', {}, [], [[]], [null], { a: 1 }],
  [0, -0, 1, -1, 0.1, -0.5, 1e-7, 1e21, 1e308, -1e308, 5e-324, 2 ** 31, 2 ** 53, 32_768],
  [9_007_199_254_740_993n, -9_223_372_036_854_775_808n, 9_223_372_036_854_775_808n, 10n ** 2000n],
  ['\u0000', 'a\u0000b', '\ud800', '\udc00x', '👍', '"\\\n\r\t{},NULL', '\\x00', '\u202e', '\ufeff'],
  [JSON.parse('{"__proto__": {"a": 1}, "constructor": null}'), { 'k\u0000': ['\u0000', '\ud800', 10n ** 20n] }],
  ['24:00:00', '00:60:00', '00:00:60', '125:03:09', '-00:00:01', '9999999:00:00', '1:2:3', '2147483647'],
  ['2025-02-29 10:00', '2024-02-29 10:00:00', '2026-02-30', '2026-13-01 00:00', '2026-01-01 24:00:00'],
  ['0000-00-00 00:00:00', '0000-00-00', '0001-01-01 00:00', '9999-12-31 23:59:59', '2026-11-20T10:00:00.123456789Z'],
  ['2026-01-01T00:00:00+15:59', '2026-01-01T00:00:00-15:59', '2026-01-01', '20260101', '1700000000'],
  ['0.125', '1,234.00', '1.234,00', '¥5', '1e3', '.5', '5.', '+5', '-5.25', '999999999999.99', '1000000000000.00'],
  ['9'.repeat(38), `0.${'9'.repeat(38)}`, '9'.repeat(40), 'NaN', 'Infinity', '０１', '٣'],
  ['127.0.0.1', '::1', 'fe80::1%eth0', '::ffff:1.2.3.4', '1.2.3.4/8', '256.1.1.1', '1.2.3'],
]
const extremes = kinds.flat()
/** Values that would take too long in every field. */
const huge: readonly unknown[] = ['x'.repeat(1_000_000), nestedObjects(90), 10n ** 140_000n]

/** An item with `value` in one field, and a key of its own. */
function itemWith(stream: Stream, field: string, value: unknown, number: number): unknown {
  const key = Object.fromEntries(
    Object.values(stream.columns).flatMap(({ type, source }) =>
      source.kind === 'field' && source.isRequired
        ? [[source.field, type === 'timestamptz' ? '2026-11-20 10:00:00' : number]]
        : [],
    ),
  )
  return { ...key, [field]: value }
}

/** A row of cells with `value` in one cell, and in the header of that cell. */
function cellsWith(cell: number, value: unknown, number: number) {
  const title: unknown[] = ['用户ID', '昵称', '手机号', '公司', '职位', '报名时间']
  const cells: unknown[] = [`u${number}`, 'n', 'p', 'x', 'y', '2026-11-20 10:00:00']
  return { item: cells.with(cell, value), title: title.with(cell, value) }
}

function* itemsOf(stream: Stream): Iterable<{ item: unknown; title?: readonly unknown[] }> {
  let number = 0
  for (const value of extremes) {
    number++
    if (stream.name === 'signups') for (let cell = 0; cell < 6; cell++) yield cellsWith(cell, value, number)
    else
      for (const field of [...fieldNames(stream.columns), 'odd'])
        yield { item: itemWith(stream, field, value, number++) }
  }
  for (const value of huge) {
    number++
    yield stream.name === 'signups' ? cellsWith(3, value, number) : { item: itemWith(stream, 'odd', value, number) }
  }
}

const database = ofFile(createTestDatabase)

const load = async (stream: Stream, rows: readonly Row[], timeZone = 'Asia/Shanghai') =>
  await database.db.transaction().execute(async (trx) => {
    await prepareToLoad(trx, timeZone)
    const counts = await loadRows(trx, stream, rows, '1')
    if (stream.children) await replaceChildren(trx, stream.children, rows, '1')
    return counts
  })

test.each(streams)('$name: whatever a field holds, an item loads once or is rejected with a reason', async (stream) => {
  const partition = { channel: 'exov5dm9', type: 'cash', question: 'q1' }
  const read = itemReader(stream, { partition, serviceDay: '2026-11-20' })
  const rows: Row[] = []
  const reasons: string[] = []
  for (const { item, title } of itemsOf(stream)) {
    const result = read(item, pageOf([item], { title }))
    if (result.kind === 'row') rows.push(result.row)
    else reasons.push(result.reason)
  }
  expect(rows.length).toBeGreaterThan(extremes.length)
  expect(reasons).not.toContain('')
  const keyed = stream.identity ? identifyRows(stream, stream.identity, rows, 'Asia/Shanghai') : rows
  const keyOf = (row: Row) => stream.key.map((name) => row[name]).join('\u0000')
  const distinct = [...new Map(keyed.map((row) => [keyOf(row), row])).values()]
  expect(await load(stream, distinct)).toEqual({ inserted: distinct.length, updated: 0, unchanged: 0 })
  expect(await load(stream, distinct)).toEqual({ inserted: 0, updated: 0, unchanged: distinct.length })
})

test.each([
  ['Europe/Berlin', '2026-03-29 02:30:00', '2026-03-29T01:30:00Z'],
  ['Europe/Berlin', '2026-10-25 02:30:00', '2026-10-25T01:30:00Z'],
  ['America/New_York', '2026-03-08 02:30', '2026-03-08T07:30:00Z'],
  ['Australia/Lord_Howe', '2026-10-04 02:15:00', '2026-10-03T15:45:00Z'],
  ['Asia/Shanghai', '2024-02-29 08:00', '2024-02-29T00:00:00Z'],
  ['Asia/Shanghai', '2026-11-20T10:00:00+05:45', '2026-11-20T04:15:00Z'],
])('in %s the wall time %s is %s, even where it is skipped or repeated', async (zone, raw, instant) => {
  const read = itemReader(visitors, { partition: { channel: '9' }, serviceDay: '2026-11-20' })
  const item = read({ user_id: `${zone} ${raw}`, first_login_time: raw }, pageOf([]))
  await load(visitors, item.kind === 'row' ? [item.row] : [], zone)
  const { rows } = await sql<{ at: Date }>`
    select first_login_at as at from livehouse.visitors where user_id = ${`${zone} ${raw}`}`.execute(database.db)
  expect(rows).toEqual([{ at: new Date(instant) }])
})
