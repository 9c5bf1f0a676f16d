import { type Kysely, sql } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import { formatWallTime, type WallTime } from '../core/wall-clock.ts'
import type { Database } from '../db/database.ts'

/**
 * When the last reading began that brought these minutes of a partition; undefined (for a minute) asks for whole walks.
 * @returns as many instants as minutes, in their order; undefined where it was never read
 */
export async function readLastReading(
  db: Kysely<Database>,
  stream: StreamName,
  partition: string,
  minutes: readonly (WallTime | undefined)[],
): Promise<readonly (Date | undefined)[]> {
  const times = minutes.map((minute) => (minute === undefined ? null : formatWallTime(minute)))
  const { rows } = await sql<{ at: Date | null }>`
    select (
      select max(started_at) from livehouse_ops.slices
      where stream = ${stream} and partition = ${partition} and status in ('landed', 'moving')
        and case when minute is null then reads is null else reads @> minute end
    ) as at
    from unnest(${times}::timestamp[]) with ordinality as asked (minute, number) order by number`.execute(db)
  return rows.map(({ at }) => at ?? undefined)
}
