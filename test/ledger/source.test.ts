import { expect, test } from 'vitest'
import { claimSource, keepSourceFacts, readSourceFacts, type Source } from '../../src/ledger/source.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const first: Source = { baseUrl: 'https://api.example.com', appId: 'app-1', timeZone: 'Asia/Shanghai' }

test('the first source is remembered and welcome again', async () => {
  await using database = await createTestDatabase()
  await claimSource(database.db, first)
  await claimSource(database.db, first)
  const rows = await database.db.selectFrom('livehouse_ops.source').selectAll().execute()
  expect(rows).toEqual([
    { base_url: first.baseUrl, app_id: 'app-1', time_zone: 'Asia/Shanghai', remembered_at: expect.any(Date) },
  ])
})

test('another base URL, app id or time zone is refused with what to do', async () => {
  await using database = await createTestDatabase()
  await claimSource(database.db, first)
  const cases: readonly (readonly [Partial<Source>, string])[] = [
    [{ baseUrl: 'https://other.example.com' }, 'LIVEHOUSE_BASE_URL was https://api.example.com'],
    [{ appId: 'app-2' }, 'LIVEHOUSE_APP_ID was app-1 and is now app-2'],
    [{ appId: null }, 'LIVEHOUSE_APP_ID was app-1 and is now not set'],
    [{ timeZone: 'Europe/Berlin' }, 'LIVEHOUSE_TIMEZONE was Asia/Shanghai and is now Europe/Berlin'],
  ]
  for (const [change, sentence] of cases) {
    await expect(claimSource(database.db, { ...first, ...change })).rejects.toMatchObject({
      code: 'db.otherSource',
      details: { differences: [expect.stringContaining(sentence)] },
      message: expect.stringContaining('point DATABASE_URL at another database'),
    })
  }
  await claimSource(database.db, first)
})

test('an app id that comes after a fixed token is remembered, but not with another base URL', async () => {
  await using database = await createTestDatabase()
  await claimSource(database.db, { ...first, appId: null })
  const elsewhere = { ...first, appId: 'app-9', baseUrl: 'https://other.example.com' }
  await expect(claimSource(database.db, elsewhere)).rejects.toMatchObject({ code: 'db.otherSource' })
  await claimSource(database.db, first)
  await expect(claimSource(database.db, { ...first, appId: 'app-2' })).rejects.toMatchObject({ code: 'db.otherSource' })
})

test('of two sources at once, one is remembered and the other refused', async () => {
  await using database = await createTestDatabase()
  const sources = ['a', 'b', 'a', 'b'].map((appId) => ({ ...first, appId }))
  const results = await Promise.allSettled(sources.map((source) => claimSource(database.db, source)))
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  const kept = await database.db.selectFrom('livehouse_ops.source').select('app_id').execute()
  expect(kept).toHaveLength(1)
})

test('a later answer takes the place of an earlier one; what is unknown later does not', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  const zone = { topic: 'zone', subject: 'account' } as const
  const ends = { topic: 'list_params', subject: 'managers' } as const
  const days = [1, 2, 3].map((day) => new Date(Date.UTC(2026, 10, day)))
  const [first = new Date(0), second = first, third = first] = days
  await keepSourceFacts(
    db,
    [
      { ...zone, answer: null, evidence: 'nothing came' },
      { ...ends, answer: 'both', evidence: 'a row came' },
    ],
    { runId: '1', foundAt: first },
  )
  await keepSourceFacts(
    db,
    [
      { ...zone, answer: 'fits', evidence: '2 minutes ago' },
      { ...ends, answer: null, evidence: 'refused' },
    ],
    { runId: '2', foundAt: second },
  )
  const expected = [
    { ...ends, answer: 'both', evidence: 'a row came', foundAt: first },
    { ...zone, answer: 'fits', evidence: '2 minutes ago', foundAt: second },
  ]
  expect(await readSourceFacts(db)).toEqual(expected)
  await keepSourceFacts(db, [{ ...ends, answer: 'start', evidence: 'changed' }], { runId: '3', foundAt: third })
  expect((await readSourceFacts(db))[0]).toMatchObject({ answer: 'start', foundAt: third })
})

test('what a newer version has found is left out', async () => {
  await using database = await createTestDatabase()
  const known = { evidence: '', found_at: new Date(0), run_id: '1' }
  await database.db
    .insertInto('livehouse_ops.source_facts')
    .values([{ ...known, topic: 'smell', subject: 'account' }])
    .execute()
  expect(await readSourceFacts(database.db)).toEqual([])
})
