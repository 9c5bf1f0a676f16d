import { type Kysely, sql } from 'kysely'
import type { ColumnType } from '../../src/core/column.ts'
import type { TruthRow } from '../../src/emulator/truth.ts'
import type { Database } from '../../src/store/database.ts'
import { findStream } from '../../src/streams/registry.ts'

/**
 * Reads a stream's table in the form of the emulator's truth, without internal keys. `isRemoved`: only the rows that
 * are marked as removed, or only the others; most streams never mark any.
 */
export async function readStreamTable(
  db: Kysely<Database>,
  name: string,
  { isRemoved }: { readonly isRemoved?: boolean | undefined } = {},
): Promise<readonly TruthRow[]> {
  const stream = findStream(name)
  if (!stream) throw new Error(`no stream ${name}`)
  const columns = Object.entries(stream.columns)
    .filter(([column]) => !column.endsWith('_key'))
    .map(([column, { type }]) => sql`${asTruth(column, type)} as ${sql.ref(column)}`)
  const conditions = [
    ...(isRemoved === undefined
      ? []
      : [sql`${stream.marksRemoved ? sql`removed_at is not null` : sql`false`} = ${isRemoved}`]),
    ...(stream.versions ? [sql`${sql.ref(stream.versions.column)} = ${stream.versions.own}`] : []),
    sql`true`,
  ]
  const table = sql.table(`livehouse.${stream.table}`)
  const { rows } =
    await sql<TruthRow>`select ${sql.join(columns)} from ${table} where ${sql.join(conditions, sql` and `)}`.execute(db)
  return rows
}

/** Reads the answers of signups, each with the columns that identify its signup in the truth. */
export async function readAnswersTable(db: Kysely<Database>): Promise<readonly TruthRow[]> {
  const { rows } = await sql<TruthRow>`
    select a.channel_id, a.question_id, user_id, ${asTruth('signed_up_at', 'timestamptz')} as signed_up_at, occurrence,
      question_no, question, answer
    from livehouse.signup_answers as a left join livehouse.signups as s
      on (s.channel_id, s.question_id, s.signup_key) = (a.channel_id, a.question_id, a.signup_key)`.execute(db)
  return rows
}

/** Sorts rows by content, so that two sets can be compared. */
export function sorted(rows: readonly TruthRow[]): readonly TruthRow[] {
  const names = Object.keys(rows[0] ?? {}).sort()
  const keyed = rows.map((row) => ({ key: JSON.stringify(names.map((name) => canonical(row[name]))), row }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row)
}

/** Replaces objects by their entries, sorted by name, because jsonb has its own order of keys. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.map(([name, inner]) => [name, canonical(inner)])
}

function asTruth(column: string, type: ColumnType) {
  const value = sql.ref(column)
  if (type === 'timestamptz') return sql`to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`
  if (type === 'inet') return sql`host(${value})`
  if (type === 'numeric') return sql`${value}::text`
  return value
}
