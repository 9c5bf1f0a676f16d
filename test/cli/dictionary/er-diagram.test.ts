import { expect, test } from 'vitest'
import { collectDictionary } from '../../../src/cli/dictionary/collect-dictionary.ts'
import { erDiagram } from '../../../src/cli/dictionary/er-diagram.ts'

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
