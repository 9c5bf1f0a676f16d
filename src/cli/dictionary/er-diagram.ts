import type { DescribedSchema } from './collect-dictionary.ts'

/** Mermaid's notation of a schema: entities with the columns that tell rows apart or join, and how they point to each other. */
export function erDiagram({ relations, joins }: DescribedSchema): string {
  const entities = relations.map(({ name, columns }) => {
    const joining = new Set(joins.filter(({ from }) => from === name).flatMap((join) => join.columns))
    const shown = columns.filter((column) => column.isKey || joining.has(column.name))
    const lines = shown.map((column) => {
      const marks = [...(column.isKey ? ['PK'] : []), ...(joining.has(column.name) ? ['FK'] : [])]
      return `    ${column.type.replaceAll(' ', '_')} ${column.name} ${marks.join(', ')}`
    })
    return [`  ${name} {`, ...lines, '  }'].join('\n')
  })
  const lines = joins.map(
    ({ from, columns, to, isOptional }) => `  ${to} ${isOptional ? '|o' : '||'}--o{ ${from} : "${columns.join(', ')}"`,
  )
  return ['erDiagram', ...entities, ...lines].join('\n')
}
