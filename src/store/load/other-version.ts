import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { ColumnType, Row } from '../../core/column.ts'
import type { Stream, TableVersions } from '../../core/stream.ts'
import type { Database } from '../database.ts'
import { lockName, shareName } from '../lock-name.ts'
import { loadedColumns } from './row-texts.ts'

/**
 * Locks the two versions of a channel's rows against each other: either many transactions of the higher version write,
 * or one of the lower. So whatever one reads of the other version stays the same until its commit.
 */
export async function lockVersions(
  trx: Transaction<Database>,
  { table }: Stream,
  { own, other }: TableVersions,
  partition: string,
): Promise<void> {
  await (own > other.version ? shareName : lockName)(trx, `versions ${table} ${partition}`)
}

/**
 * The rows of the other version with the same keys, each with the values of `stream`'s columns and `extra` in the form
 * in which they are loaded: times are text of the service's wall clock. Needs the zone that `prepareToLoad` sets.
 */
export async function readOtherVersionRows(
  trx: Transaction<Database>,
  stream: Stream,
  { column, other }: TableVersions,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const ofKeys = stream.key.map((name) => sql`${sql.ref(name)} = any(${[...new Set(rows.map((row) => row[name]))]})`)
  // The version is a literal, so that the partial index on rows of version 1 can be used.
  const result = await sql<Row>`
    select ${sql.join(loadedColumns(stream).map(({ name, type }) => sql`${asLoaded(name, type)} as ${sql.ref(name)}`))}
    from ${sql.table(`livehouse.${stream.table}`)}
    where ${sql.join(ofKeys, sql` and `)} and ${sql.ref(column)} = ${sql.lit(other.version)}`.execute(trx)
  return result.rows
}

function asLoaded(name: string, type: ColumnType): RawBuilder<unknown> {
  if (type === 'timestamptz') return sql`to_char(${sql.ref(name)}, 'YYYY-MM-DD HH24:MI:SS')`
  return type === 'jsonb' ? sql`${sql.ref(name)}::text` : sql.ref(name)
}
