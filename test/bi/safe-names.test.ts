import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { safeName, uniqueName } from '../../src/bi/safe-names.ts'
import { checkProperty } from '../helpers/check-property.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { sql } from 'kysely'

test.each([
  ['您的姓名？', '您的姓名'],
  ['  Your Name * ', 'your_name'],
  ['<b>姓名</b>&nbsp;<script>alert(1)</script>', '姓名_alert_1'],
  [`'; drop schema livehouse cascade; --`, 'drop_schema_livehouse_cascade'],
  ['"a"."b"', 'a_b'],
  ['1. 手机号', 'q_1_手机号'],
  ['ＡＢＣ（１）', 'abc_1'],
  ['Select', 'select_'],
  ['user', 'user_'],
  ['ctid', 'ctid_'],
  ['', 'fallback'],
  ['？？', 'fallback'],
  ['𠮷'.repeat(20), '𠮷'.repeat(15)],
  ['问'.repeat(200), '问'.repeat(21)],
  ['a'.repeat(62) + '问', 'a'.repeat(62)],
])('%j becomes %s', (text, name) => {
  expect(safeName(text, 'fallback')).toBe(name)
})

test('a name that is taken gets a number, and stays within 63 bytes', () => {
  const long = '问'.repeat(21)
  expect(uniqueName('name', new Set(['name', 'name_2']))).toBe('name_3')
  expect(uniqueName(long, new Set([long]))).toBe(`${'问'.repeat(20)}_2`)
})

test('whatever the texts, the names are different, fit and need no quotes in Postgres', async () => {
  const names = new Set<string>()
  checkProperty(
    'safe names',
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.lorem()), (text) => {
      const name = uniqueName(safeName(text, 'question_1'), names)
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63)
      expect(name).toMatch(/^[\p{L}_][\p{L}\p{M}\p{N}_]*$/u)
      expect(names.has(name)).toBe(false)
      names.add(name)
    }),
    { runs: 300 },
  )
  await using database = await createTestDatabase({ isMigrated: false })
  const reserved = ['select', 'user', 'order', 'int', 'values', 'system_user', 'between'].map((word) =>
    safeName(word, ''),
  )
  const all = [...names, ...reserved]
  const { rows } = await sql
    .raw<Record<string, number>>(`select ${all.map((name) => `1 as ${name}`).join(', ')}`)
    .execute(database.db)
  expect(Object.keys(rows[0] ?? {}).length).toBe(all.length)
  const { rows: words } = await sql<{ word: string }>`
    select word from pg_get_keywords() where catcode <> 'U' or not barelabel`.execute(database.db)
  const unsafe = words.map(({ word }) => word).filter((word) => safeName(word, '') === word)
  const asColumns = unsafe.length === 0 ? '1' : unsafe.map((word) => `x.${word}, ${word}`).join(', ')
  await sql
    .raw(`select ${asColumns} from (select ${unsafe.map((word) => `1 as ${word}`).join(', ')}) x`)
    .execute(database.db)
})
