import { CompiledQuery, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Cell, Row } from '../../core/column.ts'
import { codeOf } from '../../core/errors.ts'
import type { Counts } from '../../core/slice.ts'
import type { LoadTable, Stream } from '../../core/stream.ts'
import type { Database, Db } from '../database.ts'
import { loadedColumns, TextBuffer } from './row-texts.ts'
import { rowKeyColumn } from './table-part.ts'

type LoadCounts = Pick<Counts, 'inserted' | 'updated' | 'unchanged'>

/**
 * Which differing rows an upsert overwrites. `all` of them; `newer`: unless the stored row is fresher, by the table's
 * `freshnessColumn`; `late`, for rows of an earlier run that are loaded under its number: only rows from before that
 * run that are less fresh.
 */
type Overwrites = 'all' | 'newer' | 'late'

/** Rows a statement. Measured: half as many take 8 % longer, and more gain nothing. */
const MAX_ROWS = 2000
/** Bytes at which a batch ends early: rows may have hundreds of answers. */
const MAX_BYTES = 2_000_000

/** Rows of one slice that are written together, kept as the text to send. Their keys are distinct. */
export type Batch = ReturnType<typeof createBatch>

/** Creates a batch. `upsert` and `copy` run in the caller's transaction, after `prepareToLoad`, and can be repeated. */
export function createBatch(into: LoadTable & Pick<Stream, 'children'>, runId: string) {
  const names = loadedColumns(into).map(({ name }) => name)
  const lines = new TextBuffer()
  const cells: Cell[] = [runId]
  const keyColumn = rowKeyColumn(into)
  const keys: string[] = []
  const rows: Row[] = []
  let bytes = 0

  /** Inserts new rows, updates rows whose content differs, and leaves equal rows alone; idempotent. */
  const upsert = async (trx: Transaction<Database>, overwrites: Overwrites = 'all'): Promise<LoadCounts> => {
    if (keys.length === 0) return { inserted: 0, updated: 0, unchanged: 0 }
    const result = await upsertLines(into, lines.text(), runId, overwrites).execute(trx)
    const [inserted, updated] = [Number(result.rows[0]?.inserted), Number(result.rows[0]?.updated)]
    return { inserted, updated, unchanged: keys.length - inserted - updated }
  }
  return {
    add: (row: Row): void => {
      for (let at = 0; at < names.length; at += 1) cells[at + 1] = row[names[at] ?? ''] ?? null
      bytes = lines.add(cells)
      keys.push(String(row[keyColumn]))
      if (into.versions ?? into.children) rows.push(row)
    },
    /** The keys of the rows within their partition, and the rows themselves if versions or children need them again. */
    keys,
    rows,
    isFull: () => keys.length >= MAX_ROWS || bytes >= MAX_BYTES,
    upsert,
    /**
     * The same for rows that are probably new: COPY writes them in half the server's time. If one of their keys exists
     * after all, all of them are upserted.
     */
    copy: async (trx: Transaction<Database>): Promise<LoadCounts> => {
      const columns = sql`${sql.table(`livehouse.${into.table}`)} (run_id, ${refs(names)})`
      const format = sql`format csv, null 'null', quote '"', escape e'\\\\'`
      // Both in one round trip; the savepoint ends with the transaction.
      const copy = sql`savepoint before_copy; copy ${columns} from stdin with (${format})`
      try {
        await trx.executeQuery(CompiledQuery.raw(copy.compile(trx).sql, [lines.text()]))
      } catch (error) {
        if (codeOf(error) !== UNIQUE_VIOLATION) throw error
        await sql`rollback to savepoint before_copy`.execute(trx)
        return await upsert(trx)
      }
      return { inserted: keys.length, updated: 0, unchanged: 0 }
    },
  }
}

/** Upserts rows as one batch. */
export async function loadRows(
  trx: Transaction<Database>,
  into: LoadTable,
  rows: readonly Row[],
  runId: string,
  overwrites?: Overwrites,
): Promise<LoadCounts> {
  const batch = createBatch(into, runId)
  for (const row of rows) batch.add(row)
  return await batch.upsert(trx, overwrites)
}

/**
 * Sets up a transaction that loads rows: the service's zone for times; no plan that scans the whole table for a batch
 * (a growing table has no statistics yet); a commit that no crash undoes, as the slice that lands later covers these
 * rows; and an end after 20 s without a statement, as a suspended process loses its leases too.
 */
export async function prepareToLoad(trx: Transaction<Database>, timeZone: string): Promise<void> {
  await sql`set local timezone = ${sql.lit(timeZone)}; set local enable_seqscan = off; set local enable_hashjoin = off;
    set local enable_mergejoin = off; set local idle_in_transaction_session_timeout = '20s'; select
    set_config('synchronous_commit', 'on', true) where current_setting('synchronous_commit') = 'off'`.execute(trx)
}

const MAX_TRIES = 5
const [DEADLOCK, SERIALIZATION, UNIQUE_VIOLATION] = ['40P01', '40001', '23505']

/** Runs work in a transaction, and repeats it after a deadlock or a serialization failure. */
export async function transact<Result>(db: Db, work: (trx: Transaction<Database>) => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction().execute(work)
    } catch (error) {
      if (tries === MAX_TRIES || ![DEADLOCK, SERIALIZATION].includes(codeOf(error))) throw error
    }
  }
}

function upsertLines(into: LoadTable, lines: Buffer, runId: string, overwrites: Overwrites) {
  const columns = loadedColumns(into)
  const names = columns.map(({ name }) => name)
  const cells = columns.map(
    ({ name, type }, at) => sql`cells[${sql.lit(at + 1)}]::${sql.raw(type)} as ${sql.ref(name)}`,
  )
  // No text of a row contains this: a quote inside it follows `\`, and its closing quote precedes a comma or the end.
  const border = `\n"${runId}",`
  // Without the offsets, Postgres would parse a line again for each of its columns, and a value for each use.
  const input = sql`
    select ${runId}::bigint as run_id, ${sql.join(cells)} from (
      select ('{' || line || '}')::text[] as cells
      from string_to_table(${lines.subarray(border.length - 1)}::text, ${border}) as line offset 0
    ) as read offset 0`
  const content = names.filter((name) => !into.key.includes(name))
  const isRemoved = into.marksRemoved ? sql` or target.removed_at is not null` : sql``
  const differs = (from: string, columns = content) =>
    sql`(${qualified('target', columns)} is distinct from ${qualified(from, columns)}${isRemoved})`
  // Fields that the spec does not know (`extra`) may differ in every answer. If nothing else differs, `run_id` stays:
  // otherwise `findChangedRange`, which goes by it, would have the range read again for ever.
  const declared = content.filter((name) => name !== 'extra')
  const table = sql.table(`livehouse.${into.table}`)
  const clearRemoval = into.marksRemoved ? sql`, removed_at = null` : sql``

  // The offset makes the planner look up each row through the index, even in a table that has grown without statistics.
  return sql<Record<'inserted' | 'updated', string>>`
    with changed as (
      select * from (${input}) as input where not exists (
        select from ${table} as target
        where ${qualified('target', into.key)} = ${qualified('input', into.key)} and not ${differs('input')} offset 0
      )
    ),
    written as (
      insert into ${table} as target (run_id, ${refs(names)})
      select run_id, ${refs(names)} from changed order by ${refs(into.key)}
      on conflict (${refs(into.key)}) do update
      set ${sql.join(content.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`))},
        run_id = case when ${differs('excluded', declared)} then excluded.run_id else target.run_id end,
        changed_at = now()${clearRemoval}
      where ${differs('excluded')} and ${mayOverwrite(into, overwrites)}
      returning target.inserted_at = now() as is_new
    )
    select count(*) filter (where is_new) as inserted, count(*) filter (where not is_new) as updated from written`
}

/** A row of a lower version is always overwritten, and one of a higher version never; `overwrites` decides the rest. */
function mayOverwrite({ versions, freshnessColumn }: LoadTable, overwrites: Overwrites): RawBuilder<unknown> {
  const isLate = overwrites === 'late'
  const stored = (name: string) => sql`target.${sql.ref(name)}`
  const given = (name: string) => sql`excluded.${sql.ref(name)}`
  const rules = [isLate ? sql`${stored('run_id')} < ${given('run_id')}` : sql`true`]
  if (freshnessColumn !== undefined && overwrites !== 'all') {
    const sign = isLate ? sql`>` : sql`>=`
    const [old, fresh] = [stored(freshnessColumn), given(freshnessColumn)]
    rules.push(sql`(${old} is null or ${fresh} ${sign} ${old})`)
  }
  const isNewer = sql.join(rules, sql` and `)
  if (versions === undefined) return isNewer
  const [own, other] = [given(versions.column), stored(versions.column)]
  return sql`(${other} < ${own} or (${other} = ${own} and ${isNewer}))`
}

function refs(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(name)))
}

/** Columns of `alias` as one row value. */
function qualified(alias: string, names: readonly string[]): RawBuilder<unknown> {
  return sql`(${sql.join(names.map((name) => sql`${sql.raw(alias)}.${sql.ref(name)}`))})`
}
