import * as fc from 'fast-check'
import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { groupPersons } from '../../../src/bi/publish/group-persons.ts'
import { publishBi } from '../../../src/bi/publish/publish-bi.ts'
import { FIGURES_LOCK } from '../../../src/bi/views/change-triggers.ts'
import { refreshPersons } from '../../../src/bi/views/fragments/persons.ts'
import type { Database } from '../../../src/store/database.ts'
import { lockName } from '../../../src/store/lock-name.ts'
import { openDatabase } from '../../../src/store/pool.ts'
import { ofTest } from '../../helpers/of-file.ts'
import { openTransaction, untilBlocked } from '../../helpers/own-locks.ts'
import { createTestDatabase } from '../../helpers/postgres.ts'

const database = ofTest(createTestDatabase)

/** A viewer as a reading writes it, with few ids, so that many share one. */
const viewer = fc.record({
  channel: fc.constantFrom('1', '2', '3'),
  user: fc.constantFrom('a', 'b', 'c', 'd'),
  outer: fc.constantFrom(null, null, 'o1', 'O 2', 'x'),
  assign: fc.constantFrom(null, null, 'e1', 'e2', 'e3'),
  phone: fc.constantFrom(null, '13900000001', '+86 139 0000 0002', '139****0003'),
})
const changes = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: viewer },
    fc.record({ gone: fc.constantFrom('a', 'b', 'c', 'd') }),
    fc.record({ ignored: fc.constantFrom('x', 'e1') }),
    { weight: 3, arbitrary: fc.constant('group' as const) },
  ),
  { maxLength: 16, size: 'max' },
)

async function apply(db: Kysely<Database>, change: typeof changes extends fc.Arbitrary<(infer C)[]> ? C : never) {
  if (change === 'group') return await groupPersons(db)
  if ('ignored' in change)
    return void (await publishBi(db, { settings: { masked: undefined, ignoredIds: [change.ignored] } }))
  if ('gone' in change)
    return void (await sql`delete from livehouse.visitors where user_id = ${change.gone}`.execute(db))
  const { channel, user, outer, assign, phone } = change
  await sql`insert into livehouse.visitors (channel_id, user_id, outer_id, assign_id, phone, visit_count, run_id)
    values (${channel}, ${user}, ${outer}, ${assign}, ${phone}, 1, 1) on conflict (channel_id, user_id) do update
    set outer_id = excluded.outer_id, assign_id = excluded.assign_id, phone = excluded.phone`.execute(db)
}

async function readPersons(db: Kysely<Database>): Promise<readonly unknown[]> {
  const { rows } = await sql`select to_jsonb(p) as value from livehouse_bi.dim_person p
    union all select jsonb_build_array(channel_id, user_id, outer_id, assign_id, phone, person) from livehouse_ops.viewer_persons
    order by 1`.execute(db)
  return rows
}

test('grouping night after night gives the same persons as grouping all viewers at once', async () => {
  const { db } = database
  await fc.assert(
    fc.asyncProperty(changes, async (history) => {
      await sql`truncate livehouse.visitors, livehouse_ops.viewer_persons`.execute(db)
      for (const change of history) await apply(db, change)
      await groupPersons(db)
      const groupedNightly = await readPersons(db)
      await sql`truncate livehouse_ops.viewer_persons, livehouse_ops.kept_persons`.execute(db)
      await sql`update livehouse.visitors set run_id = 2`.execute(db)
      await groupPersons(db)
      expect(await readPersons(db)).toEqual(groupedNightly)
    }),
    { numRuns: 60, endOnFailure: true },
  )
})

test('many new viewers are added to a grouped warehouse without nested loops', async () => {
  const { db } = database
  const addViewers = async (channel: string, count: number) =>
    await sql`insert into livehouse.visitors (channel_id, user_id, outer_id, assign_id, run_id)
      select ${channel}, 'viewer ' || n, 'o' || n / 2, 'a' || n / 2, 1
      from generate_series(1, ${count}::integer) n`.execute(db)
  await addViewers('1', 3000)
  await groupPersons(db)
  await sql`analyze livehouse.visitors, livehouse_ops.viewer_persons`.execute(db)
  await addViewers('2', 30_000)
  await using fresh = await openDatabase(database.url, { maxConnections: 1 })
  await sql`set statement_timeout = '10s'`.execute(fresh)
  await groupPersons(fresh)
  const { rows } = await sql`select from livehouse_ops.viewer_persons`.execute(db)
  expect(rows.length).toBe(33_000)
})

test('if no viewer has changed, grouping does not read the persons', async () => {
  await sql`insert into livehouse.visitors (channel_id, user_id, phone, run_id)
    values ('1', 'a', '13900000001', 1)`.execute(database.db)
  await groupPersons(database.db)
  await using impatient = await openDatabase(database.url, { maxConnections: 1 })
  await sql`set lock_timeout = '1s'`.execute(impatient)
  await database.db.transaction().execute(async (trx) => {
    await sql`lock table livehouse_ops.viewer_persons in access exclusive mode`.execute(trx)
    await groupPersons(impatient)
  })
})

const onePerson = sql`insert into livehouse.visitors (channel_id, user_id, outer_id, nickname, last_online_at, run_id) values
  ('1', 'a', 'x', 'old', '2026-01-01', 1), ('2', 'b', 'x', 'new', '2026-11-01', 1), ('3', 'c', 'x', 'middle', '2026-06-01', 1)`

test('a stored or computed person has the values of its latest viewer; without viewers there is none', async () => {
  const { db } = database
  const readNames = async () => (await sql`select nickname from livehouse_bi.dim_person`.execute(db)).rows
  await onePerson.execute(db)
  await groupPersons(db)
  expect(await readNames()).toEqual([{ nickname: 'new' }])
  await sql`update livehouse.visitors set run_id = 2`.execute(db)
  expect(await readNames()).toEqual([{ nickname: 'new' }])
  await sql`truncate livehouse.visitors`.execute(db)
  await groupPersons(db)
  expect((await sql`select from livehouse_ops.viewer_persons`.execute(db)).rows).toEqual([])
})

test('a change of the ignored ids waits until persons have been grouped', async () => {
  const { db } = database
  await onePerson.execute(db)
  await groupPersons(db)
  await sql`update livehouse.visitors set run_id = 2`.execute(db)
  await using grouping = await openTransaction(db)
  await lockName(grouping, FIGURES_LOCK)
  await sql`delete from livehouse_ops.changed_persons`.execute(grouping)
  const published = publishBi(db, { settings: { masked: undefined, ignoredIds: ['x'] } })
  await untilBlocked(db, sql`true`)
  await sql.raw(refreshPersons(`array['1', '2', '3']`)).execute(grouping)
  await grouping.commit().execute()
  await expect(published).resolves.toBeDefined()
})
