import { join } from 'node:path'
import { expect, test } from 'vitest'
import { collectDictionary, dictionary, erDiagram } from '../../src/cli/dictionary.ts'
import { runVerb } from '../helpers/run-verb.ts'

test('docs/data-dictionary.md is what livehouse dictionary prints (mend it: npx vitest run test/cli/dictionary.test.ts -u)', async () => {
  const { code, printed } = await runVerb(dictionary, [], {})
  expect(code).toBe(0)
  await expect(`${printed.join('\n')}\n`).toMatchFileSnapshot(
    join(import.meta.dirname, '../../docs/data-dictionary.md'),
  )
})

test('it is there in Chinese too, by --lang or LIVEHOUSE_LANG, and --lang wins', async () => {
  const flag = await runVerb(dictionary, ['--lang', 'zh-CN'], {})
  const setting = await runVerb(dictionary, [], { environment: { LIVEHOUSE_LANG: 'zh-CN' } })
  const both = await runVerb(dictionary, ['--lang', 'en'], { environment: { LIVEHOUSE_LANG: 'zh-CN' } })
  const wrong = await runVerb(dictionary, ['--lang', 'zh-CN'], { environment: { LIVEHOUSE_LANG: 'klingon' } })
  expect(flag.printed.join('\n')).toContain('| `phone` | text | 手机号，服务端原样 | 4.7 phone |')
  expect(setting.printed).toEqual(flag.printed)
  expect(wrong.printed).toEqual(flag.printed)
  expect(both.printed.join('\n')).not.toMatch(/\p{Script=Han}/u)
})

test('--json is one object with every column of every schema, its source and what is personal', async () => {
  const { printed } = await runVerb(dictionary, ['--json'], {})
  const { schemas } = JSON.parse(printed.join())
  const relations: readonly { name: string; columns: readonly unknown[] }[] = schemas.flatMap(
    (schema: { relations: unknown }) => schema.relations,
  )
  const find = (name: string) => relations.find((each) => each.name === name)?.columns
  expect(find('runs')?.length).toBeGreaterThan(5)
  expect(find('dim_viewer')).toContainEqual({
    name: 'phone',
    type: 'text',
    meaning: 'Mobile phone number; masked unless the reader has the role livehouse_pii',
    source: '2.5 phone',
    is_key: false,
    personal: 'phone',
  })
  expect(schemas[2].joins).toContainEqual({
    from: 'fct_gift',
    columns: ['gift_key'],
    to: 'dim_gift',
    is_optional: true,
  })
})

test('another language is refused with those that there are', async () => {
  expect((await runVerb(dictionary, ['--lang', 'fr'], {})).problems).toEqual([
    '--lang is "fr"; it should be en or zh-CN',
  ])
})

test('every join is between relations that are there, by columns that they have, and all are drawn', () => {
  for (const schema of collectDictionary('en')) {
    const columnsOf = (name: string) =>
      schema.relations.find((each) => each.name === name)?.columns.map((column) => column.name)
    const drawn = erDiagram(schema)
    for (const { from, columns, to } of schema.joins) {
      expect(columnsOf(from), from).toEqual(expect.arrayContaining([...columns]))
      expect(columnsOf(to), to).toBeDefined()
      expect(drawn).toContain(`--o{ ${from} : "${columns.join(', ')}"`)
    }
  }
})

test('facts join their dimensions', () => {
  const joins = collectDictionary('en').flatMap((schema) => schema.joins)
  const of = (view: string) => joins.filter(({ from }) => from === view).map(({ to }) => to)
  expect(of('fct_watch')).toEqual(['dim_channel', 'dim_viewer', 'dim_person', 'dim_date'])
  expect(of('fct_signup_answer')).toContain('fct_signup')
})
