import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { quoteName, quoteText } from '../../src/bi/quote.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const nasty = [`it's`, `a\\'; drop schema livehouse; --`, '"q"', 'a\nb', '\\', '$$', "'", '{zone}', '<b>粗</b>']

test.each(['on', 'off'])('quoted texts and names come back as they were, conforming strings %s', async (setting) => {
  await using database = await createTestDatabase({ isMigrated: false })
  const list = nasty.map((text) => `select ${quoteText(text)} as ${quoteName('x')}`).join(' union all ')
  const rows = await database.db.transaction().execute(async (trx) => {
    await sql`set local standard_conforming_strings = ${sql.raw(setting)}`.execute(trx)
    return (await sql.raw<{ x: string }>(list).execute(trx)).rows
  })
  expect(rows.map(({ x }) => x).toSorted()).toEqual(nasty.toSorted())
  for (const name of nasty) {
    const { rows: named } = await sql.raw<Record<string, number>>(`select 1 as ${quoteName(name)}`).execute(database.db)
    expect(named).toEqual([{ [name]: 1 }])
  }
})
