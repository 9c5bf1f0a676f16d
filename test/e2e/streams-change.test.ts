import { beforeAll, describe, expect, test } from 'vitest'
import { defaultSwitches, type Switches } from '../../src/emulator/switches.ts'
import { createRowList, type RowList } from '../../src/emulator/world/row-list.ts'
import type { Signup, World } from '../../src/emulator/world/world.ts'
import { streams } from '../../src/streams/registry.ts'
import { first, firstChannel } from '../helpers/first-rows.ts'
import { ofFile } from '../helpers/of-file.ts'
import { type RowVersion, readRowVersions } from '../helpers/row-versions.ts'
import { type SyncOptions, startPipeline, type TestPipeline } from '../helpers/start-pipeline.ts'

function change<Item extends object>(
  list: RowList<Item>,
  fields: (row: Item) => Partial<Item>,
  isMeant: (row: Item) => boolean = () => true,
): void {
  const row = first(list.rows.filter(isMeant).slice(-1))
  list.replace(row, { ...row, ...fields(row) })
}

function addLike<Item extends object>({ rows, add }: RowList<Item>, fields: (row: Item) => Partial<Item>): void {
  const row = first(rows.slice(-1))
  add({ ...row, ...fields(row) })
}

function changeEverything(world: World): void {
  const channel = firstChannel({ world })
  channel.name = `${channel.name} (neu)`
  change(channel.visitors, ({ watchSeconds }) => ({ nick: '另一个名字', watchSeconds: watchSeconds + 60 }))
  addLike(channel.visitors, () => ({ userId: 'newcomer', phone: null }))
  change(channel.records, ({ leftAt, onlineSeconds }) => ({ leftAt: leftAt + 60, onlineSeconds: onlineSeconds + 60 }))
  addLike(channel.records, () => ({ recordId: '9007199254740993123' }))

  change(
    channel.gifts,
    () => ({ phone: '13900000001', showsVisitor: true }),
    ({ showsVisitor }) => !showsVisitor,
  )
  addLike(channel.gifts, () => ({}))
  addLike(channel.gifts, ({ givenAt }) => ({ givenAt: givenAt + 1 }))

  const { questionnaires } = channel
  const { signups } = first(questionnaires.rows)
  const second = first(questionnaires.rows.slice(1))
  change(signups, ({ answers }) => ({ answers: answers.map((answer, index) => (index === 1 ? '改了' : answer)) }))
  addLike(signups, ({ signedUpAt }) => ({ userId: 'newcomer', signedUpAt: signedUpAt + 1 }))
  questionnaires.replace(second, { ...second, name: '另一份', isOpen: !second.isOpen })
  questionnaires.add({ ...second, questionId: 'zz9newzz', signups: createRowList([...second.signups.rows]) })

  change(world.managers, ({ costTotalWatch }) => ({ username: '007', costTotalWatch: costTotalWatch + 0.25 }))
  addLike(world.managers, () => ({ id: '9007199254740995', username: '0099', outerId: '' }))
}

/** The number of rows that a sync wrote, by table. Each must be new or have other content, and carry its run id. */
async function syncAndCompare(pipeline: TestPipeline): Promise<Readonly<Record<string, number>>> {
  const before = new Map((await readRowVersions(pipeline.database.db)).map((row) => [`${row.table} ${row.key}`, row]))
  expect(await pipeline.sync()).toMatchObject({ status: 'ok', errors: [] })
  const runs = pipeline.database.db.selectFrom('livehouse_ops.runs').select('run_id').orderBy('run_id', 'desc')
  const { run_id: runId } = await runs.executeTakeFirstOrThrow()
  const after = await readRowVersions(pipeline.database.db)
  const written = after.filter((row) => row.version !== before.get(`${row.table} ${row.key}`)?.version)
  for (const row of written) expectWritten(row, before.get(`${row.table} ${row.key}`), runId)
  const byTable = Map.groupBy(written, ({ table }) => table)
  return Object.fromEntries([...byTable].map(([table, rows]) => [table, rows.length]))
}

function expectWritten(row: RowVersion, before: RowVersion | undefined, runId: string): void {
  expect(row.run_id).toBe(runId)
  expect(row.content).not.toEqual(before?.content)
  expect(row.changed_at).not.toBe(before?.changed_at)
  expect(row.inserted_at).toBe(before?.inserted_at ?? row.inserted_at)
}

test('after a change in every stream only changed rows are written, with new changed_at and run_id', async () => {
  await using pipeline = await startPipeline({ viewers: 60, days: 1 })
  await pipeline.sync()
  await pipeline.expectTruth()

  changeEverything(pipeline.emulator.world)
  pipeline.clock.passHours(1)
  const answers = first(firstChannel(pipeline.emulator).questionnaires.rows).questions.length
  const copied = pipeline.emulator.truth().signups.filter(({ question_id }) => question_id === 'zz9newzz').length
  const written = await syncAndCompare(pipeline)
  await pipeline.expectTruth()
  expect(written).toEqual({
    channels: 1,
    visitors: 2,
    watch_records: 2,
    gifts: 3,
    questionnaires: 2,
    signups: 2 + copied,
    signup_answers: 1 + answers + copied * 4,
    managers: 2,
    manager_usage: 2,
  })

  expect(await syncAndCompare(pipeline)).toEqual({})
})

test('a question that is added, removed, renamed or moved updates signups in place and inserts none', async () => {
  await using pipeline = await startPipeline({ channels: 2, viewers: 60, days: 1 })
  const streams = ['questionnaires', 'signups'] as const
  await pipeline.sync({ streams })
  const { questionnaires } = firstChannel(pipeline.emulator)
  const edits: readonly ((questions: readonly string[]) => readonly string[])[] = [
    (questions) => ['新问题', ...questions],
    (questions) => [...questions, ''],
    (questions) => questions.slice(1),
    ([, ...others]) => ['改名', ...others],
    (questions) => questions.toReversed(),
  ]
  for (const edit of edits) {
    const form = first(questionnaires.rows)
    const questions = edit(form.questions)
    const rows = form.signups.rows.map((row): Signup => {
      return { ...row, answers: questions.map((question) => row.answers[form.questions.indexOf(question)] ?? '') }
    })
    expect(rows.length).toBeGreaterThan(2)
    questionnaires.replace(form, { ...form, questions, signups: createRowList(rows) })

    const counts = { inserted: 0, updated: rows.length, removed: 0 }
    const expected = { status: 'ok', errors: [], streams: { signups: { counts } } }
    expect(await pipeline.sync({ streams }), String(edit)).toMatchObject(expected)
    await pipeline.expectTruth(streams)
  }
})

// Filled once: whatever the spec leaves open, the same world gives the same rows, and nothing is written.
const pipeline = ofFile(() => startPipeline({ channels: 2, viewers: 40, seed: 4 }))
let filled: readonly RowVersion[]

beforeAll(async () => {
  // Visits that end in this second may lie outside of the range that is requested.
  pipeline.clock.nowMs += 1000
  await pipeline.sync()
  await pipeline.expectTruth()
  filled = await readRowVersions(pipeline.database.db)
})

async function expectNothingWritten(switches: Partial<Switches>, options: SyncOptions = {}): Promise<void> {
  Object.assign(pipeline.emulator.switches, defaultSwitches, switches)
  // Without coverage, everything is read again.
  await pipeline.database.db.deleteFrom('livehouse_ops.slices').execute()
  const result = await pipeline.sync(options)
  expect(result).toMatchObject({ status: 'ok', errors: [] })
  const names = options.streams ?? streams.map(({ name }) => name)
  for (const { name, isCounted } of streams.filter((stream) => names.includes(stream.name))) {
    const { counts, slices } = result.streams[name] ?? {}
    expect(counts, name).toMatchObject({ inserted: 0, updated: 0, removed: 0, quarantined: 0, degraded: 0 })
    expect(counts?.unchanged, name).toBe(pipeline.emulator.truth()[name]?.length)
    expect(isCounted ? slices?.unverifiable : slices?.verified, name).toBe(0)
    expect(slices?.moving, name).toBe(0)
  }
  expect(await readRowVersions(pipeline.database.db)).toEqual(filled)
}

describe('reading the same world again writes nothing', () => {
  test.each([2, 51])('in pages of %i', async (pageSize) => {
    await expectNothingWritten({}, { pageSize })
  })

  test('in pages of one, for streams whose rows have an id', async () => {
    const keyed = streams.filter(({ identity }) => identity === undefined).map(({ name }) => name)
    await expectNothingWritten({}, { pageSize: 1, streams: keyed })
  })

  // Each switch has another value than its default in at least one row; the tests above use the defaults.
  test.each<Partial<Switches>>([
    { rowOrder: 'time-asc', filterEnds: 'exclusive', emptyLists: 'null' },
    { visitorOrder: 'first-login', filterEnds: 'exclusive', recordFilterTime: 'leave', totals: 'text' },
    { rowOrder: 'id-asc', visitorOrder: 'watch-time', filterEnds: 'half-open', recordFilterTime: 'leave' },
    { rowOrder: 'id-desc', visitorOrder: 'user-id', beyondLastPage: 'error', errcodeStatus: 'ok' },
    { rowOrder: 'shuffled', visitorOrder: 'shuffled', beyondLastPage: 'error', errcodeStatus: 'matching' },
    { beyondLastPage: 'repeat-first', emptyLists: 'missing' },
    { beyondLastPage: 'repeat-last', questionnaireStatus: 'boolean' },
  ])('with %j', async (switches) => {
    await expectNothingWritten(switches, { pageSize: 8 })
  })
})

test('a gift that names its viewer never, always or at times is updated in place, and none is added', async () => {
  for (const giftVisitor of ['never', 'always', 'some'] as const) {
    Object.assign(pipeline.emulator.switches, defaultSwitches, { giftVisitor })
    await pipeline.database.db.deleteFrom('livehouse_ops.slices').execute()
    const result = await pipeline.sync({ streams: ['gifts'] })
    expect(result.streams.gifts?.counts).toMatchObject({ inserted: 0, removed: 0 })
    expect(result.streams.gifts?.counts.updated).toBeGreaterThan(0)
    await pipeline.expectTruth(['gifts'])
  }
})
