import { type RawBuilder, sql, type Transaction } from 'kysely'
import { type Partition, type Place, partitionKey, type Window } from '../../core/slice.ts'
import type { LoadTable, Stream } from '../../core/stream.ts'
import { formatWallTime, MINUTE, parseWallTime, type WallTime } from '../../core/wall-clock.ts'
import type { Database, Db } from '../database.ts'

/** The part of a stream's table to compare a reading with. */
export interface TablePart {
  readonly stream: Stream
  readonly partition: Partition
  /** Selects rows whose times lie in it; undefined for the whole partition. */
  readonly window: Window | undefined
  /** Selects rows of this day (`YYYY-MM-DD`), if rows belong to the day on which they were read. */
  readonly serviceDay?: string
  /** Selects rows with these keys. */
  readonly keys?: readonly string[] | undefined
  /** The service's zone, which the window refers to. */
  readonly timeZone: string
}

/** How many keys one query fetches. */
const PAGE = 10_000

/** How many rows this part has, without removed ones. */
export async function countPartRows(db: Db, part: TablePart): Promise<number> {
  const { rows } = await sql<{ held: string }>`
    select count(*) as held from ${tableOf(part)} as t where ${isOfPart(part)}`.execute(db)
  return Number(rows[0]?.held ?? 0)
}

/** Counts this part's rows from before a run, and those that it inserted; without rows that the last reading missed. */
export async function countEarlierRows(db: Db, part: TablePart, runId: string) {
  const { rows } = await sql<{ before: string; inserted: string }>`
    select count(*) filter (where not is_new) as before, count(*) filter (where is_new) as inserted from (
      select t.run_id = ${runId}::bigint and t.changed_at = t.inserted_at as is_new
      from ${tableOf(part)} as t where ${isOfPart(part)} and not exists (
        select from livehouse_ops.missed_rows where stream = ${part.stream.name}
          and partition = ${partitionKey(part.partition)} and row_key = t.${keyColumnOf(part)}::text)
    ) as r`.execute(db)
  return { before: Number(rows[0]?.before), inserted: Number(rows[0]?.inserted) }
}

/** The minute, on the service's wall clock, of the latest row of this part; undefined if there is none. */
export async function findLatestMinute(db: Db, part: TablePart): Promise<Window | undefined> {
  const time = sql`t.${sql.ref(part.stream.timeColumns[0] ?? '')}`
  const { rows } = await sql<{ latest: string | null }>`
    select date_trunc('minute', max(${time}) at time zone ${part.timeZone})::text as latest
    from ${tableOf(part)} as t where ${isOfPart(part)}`.execute(db)
  const at = parseWallTime(rows[0]?.latest ?? '')
  return at === undefined ? undefined : { from: at, to: at + MINUTE }
}

/** The minute of the first row that begins within the window and has its last time between two instants. */
export async function findFirstLasting(db: Db, part: TablePart, from: Date, to: Date): Promise<WallTime | undefined> {
  const [began = '', ...others] = part.stream.timeColumns
  const last = sql.ref(others.at(-1) ?? began)
  const begins = { ...part, stream: { ...part.stream, timeColumns: [began] } }
  const { rows } = await sql<{ first: string | null }>`
    select date_trunc('minute', min(t.${sql.ref(began)}) at time zone ${part.timeZone})::text as first
    from ${tableOf(part)} as t where ${isOfPart(begins)} and t.${last} between ${from} and ${to}`.execute(db)
  return parseWallTime(rows[0]?.first ?? '')
}

/** How many rows of a partition the last proven reading missed: the next reading decides whether they are gone. */
export async function readMissedRows(db: Db, { stream, partition }: Place): Promise<number> {
  const missed = db.selectFrom('livehouse_ops.missed_rows').where((eb) => eb.and({ stream, partition }))
  const { count } = await missed.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow()
  return Number(count)
}

/** Forgets that rows were missed after an instant, except rows that stay missed until they are found again. */
export async function forgetMissedRows(trx: Db, after: Date): Promise<void> {
  const missed = trx.deleteFrom('livehouse_ops.missed_rows').where('missed_at', '>', after)
  await missed.where((eb) => eb('missed_at', '<', eb.cast<Date>(eb.val('infinity'), 'timestamptz'))).execute()
}

/** Which of these missing fields have a value in any row of this part, which a new reading would clear. */
export async function findFilledFields(db: Db, part: TablePart, fields: readonly string[]): Promise<readonly string[]> {
  const filled: string[] = []
  for (const [name, { source }] of Object.entries(part.stream.columns)) {
    if (source.kind !== 'field' || !fields.includes(source.field)) continue
    const holder = sql`select from ${tableOf(part)} t where ${isOfPart(part)} and t.${sql.ref(name)} is not null`
    const { rows } = await sql<{ isHeld: boolean }>`select exists (${holder}) as "isHeld"`.execute(db)
    if (rows[0]?.isHeld === true) filled.push(source.field)
  }
  return filled
}

/** The keys, within the partition, of the rows of this part that the reading did not find. */
export async function findAbsent(
  db: Db,
  part: TablePart,
  isFound: (key: string) => boolean,
): Promise<readonly string[]> {
  const key = keyColumnOf(part)
  const missing: string[] = []
  let after: string | undefined
  for (;;) {
    const next = after === undefined ? sql`` : sql` and t.${key} > ${after}`
    const { rows } = await sql<{ key: string }>`
      select t.${key} as key from ${tableOf(part)} as t where ${isOfPart(part)}${next}
      order by t.${key} limit ${sql.lit(PAGE)}`.execute(db)
    for (const row of rows) if (!isFound(row.key)) missing.push(row.key)
    if (rows.length < PAGE) return missing
    after = rows.at(-1)?.key
  }
}

export function tableOf({ stream }: TablePart): RawBuilder<unknown> {
  return sql.table(`livehouse.${stream.table}`)
}

/** `rowKeyColumn` as an expression. */
export function keyColumnOf({ stream }: Pick<TablePart, 'stream'>): RawBuilder<unknown> {
  return sql.ref(rowKeyColumn(stream))
}

/** The key column that identifies a row within its partition and day. */
export function rowKeyColumn({ key, columns }: LoadTable): string {
  const isOfRow = (name: string) => ['field', 'computed'].includes(columns[name]?.source.kind ?? '')
  return key.findLast(isOfRow) ?? ''
}

/** Selects the rows of the partition, removed ones too; of a table with two versions, those of the stream's version. */
export function isOfPartition({ stream, partition, serviceDay }: TablePart): RawBuilder<unknown> {
  const ofStream = Object.entries(stream.columns).flatMap(([name, { source }]) => {
    if (source.kind === 'partition') return [sql`t.${sql.ref(name)} = ${partition[source.part] ?? null}`]
    if (source.kind === 'serviceDay' && serviceDay !== undefined) return [sql`t.${sql.ref(name)} = ${serviceDay}::date`]
    return source.kind === 'constant' ? [sql`t.${sql.ref(name)} = ${source.value}`] : []
  })
  return sql.join([...ofStream, sql`true`], sql` and `)
}

/** Selects the rows of the partition that lie in the window and are not removed. */
export function isOfPart(part: TablePart): RawBuilder<unknown> {
  const { stream, window, timeZone, keys } = part
  const inWindow =
    window === undefined
      ? []
      : stream.timeColumns.map((name, index) => {
          const time = sql`t.${sql.ref(name)}`
          const from = sql`${formatWallTime(window.from)}::timestamp at time zone ${timeZone}`
          const to = sql`${formatWallTime(window.to)}::timestamp at time zone ${timeZone}`
          const isWithin = sql`${time} >= ${from} and ${time} < ${to}`
          return index === 0 ? isWithin : sql`(${time} is null or ${isWithin})`
        })
  const present = stream.marksRemoved ? [sql`t.removed_at is null`] : []
  const ofKeys = keys ? [sql`t.${keyColumnOf(part)} = any(${keys})`] : []
  return sql.join([isOfPartition(part), ...inWindow, ...present, ...ofKeys], sql` and `)
}

/** The result of comparing a reading with the rows in the table. */
export interface Comparison {
  readonly removed: number
  /** Keys of rows that the reading missed, or that it found although the reading before it missed them. */
  readonly disputed: readonly string[]
}

export const noDifference: Comparison = { removed: 0, disputed: [] }

interface ComparisonOptions {
  readonly runId: string
  readonly at: Date
  /** A row is marked as removed only if an earlier reading had missed it by then; undefined marks none. */
  readonly missedBy: Date | undefined
  /** Whether a missed row may be among the items that could not be read. */
  readonly mayBeUnread: boolean
  /** Whether all items could be read, so that a missed row did not come. */
  readonly isAllRead: boolean
}

/**
 * Compares a proven reading with the table, in the transaction of its last rows. Rows that it did not find are recorded
 * as missed; those that the proven reading before it missed too are marked as removed; rows that it found are no longer
 * missed. A row that may be among unreadable items is not marked until it was found again, or all items could be read.
 */
export async function compareWithTable(
  trx: Transaction<Database>,
  part: TablePart,
  found: { readonly count: number; readonly has: (key: string) => boolean },
  { runId, at, missedBy, mayBeUnread, isAllRead }: ComparisonOptions,
): Promise<Comparison> {
  const { stream, partition } = part
  const key = keyColumnOf(part)
  const place = sql`stream = ${stream.name} and partition = ${partitionKey(partition)}`
  const before = await sql<{ held: string; is_any_missed: boolean }>`
    select (select count(*) from ${tableOf(part)} as t where ${isOfPart(part)}) as held,
      exists (select from livehouse_ops.missed_rows where ${place}) as is_any_missed`.execute(trx)
  const isWhole = Number(before.rows[0]?.held) === found.count
  if (isWhole && before.rows[0]?.is_any_missed === false) return noDifference
  const missing = isWhole ? [] : await findAbsent(trx, part, found.has)
  const foundAgain = await sql<{ row_key: string }>`
    delete from livehouse_ops.missed_rows where ${place} and not row_key = any(${missing}::text[])
      and row_key in (select t.${key}::text from ${tableOf(part)} as t where ${isOfPart(part)})
    returning row_key`.execute(trx)
  const foundAgainKeys = foundAgain.rows.map(({ row_key }) => row_key)
  const mayMark = missedBy !== undefined || !stream.marksRemoved
  if (missing.length === 0 || !mayMark) return { removed: 0, disputed: [...foundAgainKeys, ...missing] }
  const { rows } = await sql<{ row_key: string }>`
    delete from livehouse_ops.missed_rows where ${place} and row_key = any(${missing}::text[])
      and missed_at <= ${missedBy ?? null} and not ${mayBeUnread}
    returning row_key`.execute(trx)
  const missedTwice = rows.map(({ row_key }) => row_key)
  if (missedTwice.length > 0)
    await sql`
    update ${tableOf(part)} as t set removed_at = ${at}, run_id = ${runId}::bigint, changed_at = now()
    where ${isOfPart(part)} and t.${key}::text = any(${missedTwice}::text[])`.execute(trx)
  const missedOnce = await sql<{ row_key: string }>`
    insert into livehouse_ops.missed_rows (stream, partition, row_key, missed_at, run_id)
    select ${stream.name}, ${partitionKey(partition)}, row_key, ${mayBeUnread ? 'infinity' : at}, ${runId}::bigint
    from unnest(${missing}::text[]) as row_key where not row_key = any(${missedTwice}::text[])
    on conflict (stream, partition, row_key) do update set missed_at = excluded.missed_at
      where ${mayBeUnread} or missed_rows.missed_at = 'infinity' and ${isAllRead}
    returning row_key`.execute(trx)
  // A row of a stream that marks none stays missed, and is disputed only the first time.
  const stillMissed = stream.marksRemoved ? missing : missedOnce.rows.map(({ row_key }) => row_key)
  return { removed: missedTwice.length, disputed: [...foundAgainKeys, ...stillMissed] }
}

/**
 * The range of a window from the first to the last minute with a changed row, or undefined. A row has changed if this
 * run wrote it within `seen`, or if it is disputed, outside `seen` too (rows are read before they are covered).
 * @param seen what earlier readings cover, as `tsmultirange` text
 */
export async function findChangedRange(
  trx: Transaction<Database>,
  part: TablePart & { readonly window: Window },
  { seen, disputed, runId }: { readonly seen: string; readonly disputed: readonly string[]; readonly runId: string },
): Promise<Window | undefined> {
  const { stream, window, timeZone } = part
  const [from, to] = [window.from, window.to].map((time) => sql`${formatWallTime(time)}::timestamp`)
  // The service may filter by any of a row's times.
  const times = stream.timeColumns.map((name) => {
    const time = sql`(t.${sql.ref(name)} at time zone ${timeZone})`
    return sql`case when ${time} >= ${from} and ${time} < ${to} then ${time} end`
  })
  const { rows } = await sql<{ first: string | null; last: string | null }>`
    select date_trunc('minute', min(at))::text as first, date_trunc('minute', max(at))::text as last
    from ${tableOf(part)} as t
      cross join lateral (select coalesce(${sql.join(times)}) as at) as place
    where ${isOfPartition(part)}
      and (${seen}::tsmultirange @> at and t.run_id = ${runId}::bigint
        or at is not null and t.${keyColumnOf(part)}::text = any(${disputed}::text[]))`.execute(trx)
  const [first, last] = [rows[0]?.first, rows[0]?.last].map((time) => parseWallTime(time ?? ''))
  return first === undefined || last === undefined ? undefined : { from: first, to: last + MINUTE }
}
