import { type RawBuilder, sql } from 'kysely'
import type { Window } from '../../core/slice.ts'
import { formatWallTime, MINUTE, parseWallTime, type WallTime } from '../../core/wall-clock.ts'
import type { Db } from '../database.ts'
import { isOfPart, isOfPartition, keyColumnOf, type TablePart, tableOf } from './table-part.ts'

/** How many rows of a part have no readable time. */
export async function countUntimed(db: Db, part: TablePart): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    select count(*) from ${tableOf(part)} as t where ${isOfPart(part)} and ${timeOf(part)} is null`.execute(db)
  return Number(rows[0]?.count ?? 0)
}

/** The minute, on the service's wall clock, of the row at `offset` in the order of time; undefined beyond the last. */
export async function findMinute(db: Db, part: TablePart, offset: number): Promise<WallTime | undefined> {
  const { rows } = await sql<{ minute: string }>`
    select date_trunc('minute', ${timeOf(part)} at time zone ${part.timeZone})::text as minute
    from ${tableOf(part)} as t where ${isOfPart(part)} order by ${timeOf(part)} offset ${offset} limit 1`.execute(db)
  return rows[0] && parseWallTime(rows[0].minute)
}

function timeOf({ stream }: TablePart): RawBuilder<unknown> {
  return sql`t.${sql.ref(stream.timeColumns[0] ?? '')}`
}

/**
 * The minute of a window (its ends included) that the fewest rows touch; of several, the one closest to `near`. If no
 * row touches it, a cut there gives both parts the same rows, whichever time of a row the service filters by.
 * @returns also how many rows span it, or begin or end within a minute of it
 */
export async function findQuietMinute(db: Db, part: TablePart & { readonly window: Window }, near: WallTime) {
  const { window, timeZone, stream } = part
  const times = sql.join(stream.timeColumns.map((name) => sql`t.${sql.ref(name)}`))
  const wall = (time: WallTime) => sql`${formatWallTime(time)}::timestamp`
  const instant = (time: WallTime) => sql`${wall(time)} at time zone ${timeZone}`
  const minuteOf = (time: RawBuilder<unknown>) => sql`date_trunc('minute', ${time} at time zone ${timeZone})`
  // A sweep: a row touches the minutes from the one in which it begins to the one after its last.
  const { rows } = await sql<{ at: string; touching: number }>`
    with spans as (
      select ${minuteOf(sql`least(${times})`)} as first,
        ${minuteOf(sql`greatest(${times})`)} + interval '2 minutes' as beyond
      from ${tableOf(part)} as t
      where ${isOfPartition(part)} and least(${times}) < ${instant(window.to + MINUTE)}
        and greatest(${times}) >= ${instant(window.from - MINUTE)}
    ),
    steps as (
      select greatest(first, ${wall(window.from)}) as at, 1 as step from spans
      union all select greatest(beyond, ${wall(window.from)}), -1 from spans
      union all select ${wall(window.from)}, 0 union all select ${wall(near)}, 0
    ),
    levels as (select at, (sum(sum(step)) over (order by at))::integer as touching from steps group by at)
    select at::text, touching from levels where at between ${wall(window.from)} and ${wall(window.to)}
    order by touching, abs(extract(epoch from at - ${wall(near)})) limit 1`.execute(db)
  const [row] = rows
  return { at: parseWallTime(row?.at ?? '') ?? near, touching: row?.touching ?? 0 }
}

/** The keys for which the partition has no row, or only one that is marked as removed. `keys` are distinct. */
export async function findUnknownKeys(db: Db, part: TablePart, keys: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ key: string }>`
    select t.${keyColumnOf(part)}::text as key
    from ${tableOf(part)} as t where ${isOfPart({ ...part, window: undefined, keys })}`.execute(db)
  return [...new Set(keys).difference(new Set(rows.map(({ key }) => key)))]
}
