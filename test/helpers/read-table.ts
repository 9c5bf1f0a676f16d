import { type Kysely, sql } from 'kysely'
import type { ColumnType } from '../../src/core/column.ts'
import type { Database } from '../../src/store/database.ts'
import type { TruthRow } from '../../src/emulator/truth.ts'
import { findStream } from '../../src/streams/registry.ts'

/**
 * A stream's table in the form of the emulator's truth, in the order of its columns; internal keys are left out. `isRemoved`:
 * only rows that are marked as such, or are not; of most streams none ever is.
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
  const which = [
    ...(isRemoved === undefined
      ? []
      : [sql`${stream.marksRemoved ? sql`removed_at is not null` : sql`false`} = ${isRemoved}`]),
    ...(stream.versions ? [sql`${sql.ref(stream.versions.column)} = ${stream.versions.own}`] : []),
    sql`true`,
  ]
  const table = sql.table(`livehouse.${stream.table}`)
  const { rows } =
    await sql<TruthRow>`select ${sql.join(columns)} from ${table} where ${sql.join(which, sql` and `)}`.execute(db)
  return rows
}

export async function readChannelsTable(db: Kysely<Database>): Promise<readonly TruthRow[]> {
  return await db.selectFrom('livehouse.channels').select(['channel_id', 'name', 'admin_id']).execute()
}

/** The answers of signups, each with what names its signup in the truth. */
export async function readAnswersTable(db: Kysely<Database>): Promise<readonly TruthRow[]> {
  const { rows } = await sql<TruthRow>`
    select a.channel_id, a.question_id, user_id, ${asTruth('signed_up_at', 'timestamptz')} as signed_up_at, occurrence,
      question_no, question, answer
    from livehouse.signup_answers as a left join livehouse.signups as s
      on (s.channel_id, s.question_id, s.signup_key) = (a.channel_id, a.question_id, a.signup_key)`.execute(db)
  return rows
}

/** Rows in an order of their own, so that two sets of them can be compared. */
export function sorted(rows: readonly TruthRow[]): readonly TruthRow[] {
  const names = Object.keys(rows[0] ?? {}).sort()
  const keyed = rows.map((row) => ({ key: JSON.stringify(names.map((name) => canonical(row[name]))), row }))
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row)
}

/** Objects as their entries in the order of the names: jsonb has an order of its own. */
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
