import { CompiledQuery, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Cell, Row } from '../../core/column.ts'
import type { Counts } from '../../core/slice.ts'
import type { LoadTable } from '../../core/stream.ts'
import type { Database, Db } from '../database.ts'
import { codeOf } from '../../core/errors.ts'
import { loadedColumns, rowsOf, TextBuffer } from './row-texts.ts'

export type LoadCounts = Pick<Counts, 'inserted' | 'updated' | 'unchanged'>

export interface LoadOptions {
  /** Leaves a row alone that is fresher than its new version (by the table's `freshnessColumn`). */
  readonly onlyNewer?: boolean
  /**
   * For rows that were received earlier than now, by the run that they are loaded as: leaves alone what that run or a
   * later one has written, and a row that is as fresh or fresher.
   */
  readonly isLate?: boolean
}

/** Rows of one slice that are written together, held as the text that they are sent as. Their keys are distinct. */
export interface Batch {
  readonly add: (rows: readonly Row[]) => void
  readonly size: () => number
  /** In the caller's transaction, after `prepareToLoad`; again where that failed. Counts add up to the size. */
  readonly write: (trx: Transaction<Database>) => Promise<LoadCounts>
}

/**
 * A batch that is upserted by one statement, which is idempotent: it inserts new rows, updates those whose content
 * differs and leaves equal ones alone.
 */
export function upsertBatch(into: LoadTable, runId: string, options: LoadOptions = {}): Batch {
  const columns = loadedColumns(into).map((column) => ({ ...column, values: new TextBuffer(',') }))
  let size = 0
  return {
    add: (rows) => {
      if (rows.length === 0) return
      size += rows.length
      for (const { name, values } of columns) values.add(rows.map((row) => row[name] ?? null))
    },
    size: () => size,
    write: async (trx) => {
      if (size === 0) return { inserted: 0, updated: 0, unchanged: 0 }
      // In the FROM clause Postgres would store each column first. It reads the bytes as text.
      const input = columns.map(({ name, type, values }) => {
        const literal = sql`('{' || ${values.text()}::text || '}')`
        return sql`unnest(${literal}::${sql.raw(type)}[]) as ${sql.ref(name)}`
      })
      const result = await upsert(into, sql`select ${sql.join(input)}`, runId, options).execute(trx)
      const inserted = Number(result.rows[0]?.inserted)
      const updated = Number(result.rows[0]?.updated)
      return { inserted, updated, unchanged: size - inserted - updated }
    },
  }
}

/** Upserts rows that are all at hand. */
export async function loadRows(
  trx: Transaction<Database>,
  into: LoadTable,
  rows: readonly Row[],
  runId: string,
  options?: LoadOptions,
): Promise<LoadCounts> {
  const batch = upsertBatch(into, runId, options)
  batch.add(rows)
  return await batch.write(trx)
}

/**
 * Settings of this transaction: the zone in which the service's times are read, and no plan that scans the whole table
 * for a batch (a growing table has no statistics yet). If its process is stopped, it is ended; the leases expire too.
 */
export async function prepareToLoad(trx: Transaction<Database>, timeZone: string): Promise<void> {
  await sql`set local timezone to ${sql.lit(timeZone)}; set local enable_seqscan to off;
    set local enable_hashjoin to off; set local enable_mergejoin to off;
    set local idle_in_transaction_session_timeout to '20s'`.execute(trx)
}

const MOST_TRIES = 5
const [DEADLOCK, SERIALIZATION, UNIQUE_VIOLATION] = ['40P01', '40001', '23505']

/** Does work in a transaction, and does it again after a deadlock or a serialization failure. */
export async function transact<Result>(
  db: Db,
  work: (trx: Transaction<Database>) => Promise<Result>,
  tries = MOST_TRIES,
): Promise<Result> {
  try {
    return await db.transaction().execute(work)
  } catch (error) {
    if (tries === 1 || ![DEADLOCK, SERIALIZATION].includes(codeOf(error))) throw error
    return await transact(db, work, tries - 1)
  }
}

function upsert(into: LoadTable, input: RawBuilder<unknown>, runId: string, options: LoadOptions) {
  const names = loadedColumns(into).map(({ name }) => name)
  const content = names.filter((name) => !into.key.includes(name))
  const isRemoved = into.marksRemoved ? sql` or target.removed_at is not null` : sql``
  const declared = content.filter((name) => name !== 'extra')
  // Fields that the spec does not know (`extra`) may differ in every answer. Where nothing else does, `run_id` stays:
  // `findChangedRange` goes by it, and would have the range read again for ever.
  const differs = sql`${qualified('target', declared)} is distinct from ${qualified('excluded', declared)}${isRemoved}`
  const table = sql.table(`livehouse.${into.table}`)
  const isBack = into.marksRemoved ? sql`, removed_at = null` : sql``

  // The limit makes the planner look up each row by the index, even where a table that just grew has no statistics yet.
  return sql<Record<'inserted' | 'updated', string>>`
    with changed as (
      select input.* from (${input}) as input
      left join lateral (
        select target.*, true as is_there from ${table} as target
        where ${qualified('target', into.key)} = ${qualified('input', into.key)} limit 1
      ) as target on true
      where target.is_there is null
        or ${qualified('target', content)} is distinct from ${qualified('input', content)}${isRemoved}
    ),
    written as (
      insert into ${table} as target (${refs(names)}, run_id)
      select ${refs(names)}, ${runId}::bigint from changed order by ${refs(into.key)}
      on conflict (${refs(into.key)}) do update
      set ${sql.join(content.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`))},
        run_id = case when ${differs} then excluded.run_id else target.run_id end, changed_at = now()${isBack}
      where (${qualified('target', content)} is distinct from ${qualified('excluded', content)}${isRemoved})
        and ${mayOverwrite(into, options)}
      returning target.inserted_at = now() as is_new
    )
    select count(*) filter (where is_new) as inserted, count(*) filter (where not is_new) as updated from written`
}

/** A row of a lower version is always overwritten, one of a higher version never; others as the options say. */
function mayOverwrite(into: LoadTable, { onlyNewer, isLate }: LoadOptions): RawBuilder<unknown> {
  const { versions, freshnessColumn } = into
  const held = (name: string) => sql`target.${sql.ref(name)}`
  const given = (name: string) => sql`excluded.${sql.ref(name)}`
  const rules = [isLate ? sql`${held('run_id')} < ${given('run_id')}` : sql`true`]
  if (freshnessColumn !== undefined && (onlyNewer || isLate)) {
    const than = isLate ? sql`>` : sql`>=`
    rules.push(sql`(${held(freshnessColumn)} is null or ${given(freshnessColumn)} ${than} ${held(freshnessColumn)})`)
  }
  const isNewer = sql.join(rules, sql` and `)
  if (versions === undefined) return isNewer
  const [own, other] = [given(versions.column), held(versions.column)]
  return sql`(${other} < ${own} or (${other} = ${own} and ${isNewer}))`
}

/**
 * A batch of rows that are probably new: COPY writes it, which takes the server half the time of an upsert. Where one
 * of their keys is there after all, all of them are upserted.
 */
export function copyBatch(into: LoadTable, runId: string): Batch {
  const names = [...loadedColumns(into).map(({ name }) => name), 'run_id']
  const columns = sql`${sql.table(`livehouse.${into.table}`)} (${refs(names)})`
  // In one round trip; the savepoint ends with the transaction.
  const format = sql`format csv, null 'null', quote '"', escape e'\\\\'`
  const copy = sql`savepoint before_copy; copy ${columns} from stdin with (${format})`
  const lines = new TextBuffer('\n')
  const values: Cell[] = names.map(() => runId)
  const runIdAt = names.length - 1
  let size = 0
  return {
    add: (rows) => {
      size += rows.length
      for (const row of rows) {
        for (let at = 0; at < runIdAt; at += 1) values[at] = row[names[at] ?? ''] ?? null
        lines.add(values)
      }
    },
    size: () => size,
    write: async (trx) => {
      try {
        await trx.executeQuery(CompiledQuery.raw(copy.compile(trx).sql, [lines.text()]))
      } catch (error) {
        // A row of one of the keys is there.
        if (codeOf(error) !== UNIQUE_VIOLATION) throw error
        await sql`rollback to savepoint before_copy`.execute(trx)
        return await loadRows(trx, into, rowsOf(lines.text().toString(), names), runId)
      }
      return { inserted: size, updated: 0, unchanged: 0 }
    },
  }
}

/** Columns by name, separated by commas. */
function refs(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(name)))
}

/** The same columns of `alias`, as one row value. */
function qualified(alias: string, names: readonly string[]): RawBuilder<unknown> {
  return sql`(${sql.join(names.map((name) => sql`${sql.raw(alias)}.${sql.ref(name)}`))})`
}
