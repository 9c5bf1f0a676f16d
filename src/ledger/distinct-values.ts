import { type RawBuilder, sql } from 'kysely'

/**
 * The different values of a column that leads an index, as the column `value` of a subquery: one look into the index for each, however
 * many rows there are. `where`: the condition of a partial index.
 */
export function distinctValues(
  table: string,
  column: string,
  where: RawBuilder<unknown> = sql`true`,
): RawBuilder<unknown> {
  const name = sql.ref(column)
  const from = sql.table(table)
  return sql`(
    with recursive found (value) as (
      select min(${name}) from ${from} where ${where}
      union all
      select (select min(${name}) from ${from} where ${where} and ${name} > found.value) from found where found.value is not null
    )
    select value from found where value is not null)`
}
