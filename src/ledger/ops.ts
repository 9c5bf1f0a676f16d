import { CamelCasePlugin, type ExpressionBuilder, expressionBuilder, type Kysely, type Selectable, sql } from 'kysely'
import type { Place } from '../core/slice.ts'
import type { Database, Db } from '../store/database.ts'

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name

/** The tables of `livehouse_ops`, without the schema's name, and those of `livehouse`, with columns in camel case. */
export type Ops = {
  readonly [Table in keyof Database as Table extends `livehouse_ops.${infer Name}` ? Name : Table]: {
    [Column in keyof Database[Table] & string as CamelCase<Column>]: Database[Table][Column]
  }
}

/** A row as it is read. */
export type Row<Table extends keyof Ops> = Readonly<Selectable<Ops[Table]>>

/** The same database or transaction, with columns in camel case. Keys inside JSON documents stay as they are. */
export function ops(db: Db): Kysely<Ops> {
  const camelCased: unknown = db.withSchema('livehouse_ops').withPlugin(plugin)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the plugin does to names what the type does
  return camelCased as Kysely<Ops>
}

const plugin = new CamelCasePlugin({ maintainNestedObjectKeys: true })

/** How many rows one statement writes: far below the limit of 65,535 parameters. */
export const ROWS_A_STATEMENT = 1000

/** The database's time at the start of the transaction. */
export const now = sql<Date>`now()`

/** Whether a row belongs to this partition of a stream. */
export function isAt({ stream, partition }: Place) {
  return (eb: ExpressionBuilder<Ops, PlacedTable>) => eb.and({ stream, partition })
}

/** The tables and views whose rows belong to a partition. */
type PlacedTable = keyof { [Table in keyof Ops as Ops[Table] extends Place ? Table : never]: unknown }

/** `any (…)` with all texts as one parameter, as there may be more of them than a statement has parameters. */
export function anyOf(texts: readonly string[]) {
  const eb = expressionBuilder<Ops>()
  return eb.fn.any(eb.val(texts))
}
