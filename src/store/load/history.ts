import { sql, type Transaction } from 'kysely'
import { partitionKey, type Window } from '../../core/slice.ts'
import { floorToMinute, formatWallTime, MINUTE, parseWallTime } from '../../core/wall-clock.ts'
import type { Database } from '../database.ts'
import { findAbsent, isOfPart, isOfPartition, keyColumnOf, type TablePart, tableOf } from './table-part.ts'

/** What a reading says of rows that were there before it. */
export interface Comparison {
  /** How many rows it marked as removed. */
  readonly removed: number
  /** Keys of rows of which it and the reading before it do not say the same. */
  readonly disputed: readonly string[]
}

export const nothingDisputed: Comparison = { removed: 0, disputed: [] }

/** Who compares, and when. */
export interface ComparedBy {
  readonly runId: string
  readonly at: Date
  /** Only what an earlier reading missed by then is marked; undefined where it may not say that a row is gone. */
  readonly missedBy: Date | undefined
  /** Whether a row that it did not find may be among what it could not read. */
  readonly mayBeUnread?: boolean
  /** Whether it could read all that came: then a row that it did not find is not among anything. */
  readonly isAllRead?: boolean
}

/**
 * After a proven reading: rows of this part that it did not find are noted as missed; those that the proven reading
 * before it missed too are marked removed. What was found is no longer missed. What may be unread is not marked until
 * it has been found again, or all could be read. In the transaction of the reading's last rows.
 */
export async function compareWithHeld(
  trx: Transaction<Database>,
  part: TablePart,
  found: { readonly count: number; readonly has: (key: string) => boolean },
  { runId, at, missedBy, mayBeUnread = false, isAllRead = false }: ComparedBy,
): Promise<Comparison> {
  const { stream, partition } = part
  const key = keyColumnOf(part)
  const place = sql`stream = ${stream.name} and partition = ${partitionKey(partition)}`
  const looked = await sql<{ held: string; is_any_missed: boolean }>`
    select (select count(*) from ${tableOf(part)} as t where ${isOfPart(part)}) as held,
      exists (select from livehouse_ops.missed_rows where ${place}) as is_any_missed`.execute(trx)
  const isWhole = Number(looked.rows[0]?.held) === found.count
  if (isWhole && looked.rows[0]?.is_any_missed === false) return nothingDisputed
  const missing = isWhole ? [] : await findAbsent(trx, part, found.has)
  const back = await sql<{ row_key: string }>`
    delete from livehouse_ops.missed_rows where ${place} and not row_key = any(${missing}::text[])
      and row_key in (select t.${key}::text from ${tableOf(part)} as t where ${isOfPart(part)})
    returning row_key`.execute(trx)
  const returned = back.rows.map(({ row_key }) => row_key)
  const maySay = missedBy !== undefined || !stream.marksRemoved
  if (missing.length === 0 || !maySay) return { removed: 0, disputed: [...returned, ...missing] }
  const { rows } = await sql<{ row_key: string }>`
    delete from livehouse_ops.missed_rows where ${place} and row_key = any(${missing}::text[])
      and missed_at <= ${missedBy ?? null} and not ${mayBeUnread}
    returning row_key`.execute(trx)
  const twice = rows.map(({ row_key }) => row_key)
  if (twice.length > 0)
    await sql`
    update ${tableOf(part)} as t set removed_at = ${at}, run_id = ${runId}::bigint, changed_at = now()
    where ${isOfPart(part)} and t.${key}::text = any(${twice}::text[])`.execute(trx)
  const once = await sql<{ row_key: string }>`
    insert into livehouse_ops.missed_rows (stream, partition, row_key, missed_at, run_id)
    select ${stream.name}, ${partitionKey(partition)}, row_key, ${mayBeUnread ? 'infinity' : at}, ${runId}::bigint
    from unnest(${missing}::text[]) as row_key where not row_key = any(${twice}::text[])
    on conflict (stream, partition, row_key) do update set missed_at = excluded.missed_at
      where ${mayBeUnread} or missed_rows.missed_at = 'infinity' and ${isAllRead}
    returning row_key`.execute(trx)
  // Rows that are never marked are missed for good: only the first time says something new.
  const open = stream.marksRemoved ? missing : once.rows.map(({ row_key }) => row_key)
  return { removed: twice.length, disputed: [...returned, ...open] }
}

/**
 * From the first to the last minute of a window in which a row differs from what the readings before had: one that this
 * run has written, or a disputed one, which may have come when it was too young to be claimed. Undefined where there is
 * none.
 * @param seen what the readings before claim, as `tsmultirange` text
 */
export async function findChangedRange(
  trx: Transaction<Database>,
  part: TablePart & { readonly window: Window },
  { seen, disputed, runId }: { readonly seen: string; readonly disputed: readonly string[]; readonly runId: string },
): Promise<Window | undefined> {
  const { stream, window, timeZone } = part
  const [from, to] = [window.from, window.to].map((time) => sql`${formatWallTime(time)}::timestamp`)
  // The service may filter by either of two times.
  const times = stream.timeColumns.map((name) => {
    const time = sql`(t.${sql.ref(name)} at time zone ${timeZone})`
    return sql`case when ${time} >= ${from} and ${time} < ${to} then ${time} end`
  })
  const { rows } = await sql<{ first: string | null; last: string | null }>`
    select min(at)::text as first, max(at)::text as last from ${tableOf(part)} as t
      cross join lateral (select coalesce(${sql.join(times)}) as at) as place
    where ${isOfPartition(part)}
      and (${seen}::tsmultirange @> at and t.run_id = ${runId}::bigint
        or at is not null and t.${keyColumnOf(part)}::text = any(${disputed}::text[]))`.execute(trx)
  const [first, last] = [rows[0]?.first, rows[0]?.last].map((time) => parseWallTime(time?.slice(0, 19) ?? ''))
  return first === undefined || last === undefined
    ? undefined
    : { from: floorToMinute(first), to: floorToMinute(last) + MINUTE }
}
