import { expect, test } from 'vitest'
import { keepSourceFacts, readSourceFacts } from '../../src/ledger/source-facts.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

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
    .values([
      { ...known, topic: 'smell', subject: 'account' },
      { ...known, topic: 'zone', subject: 'moon' },
    ])
    .execute()
  expect(await readSourceFacts(database.db)).toEqual([])
})
