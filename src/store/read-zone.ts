import { type Kysely, sql } from 'kysely'
import { wallTimeAt } from '../core/wall-clock.ts'
import type { Database } from './database.ts'

/** How the server's own list of zones has one. */
export interface ServerZone {
  readonly isKnown: boolean
  /** Instants at which its clock shows another time than ours, in milliseconds since 1970. */
  readonly differences: readonly number[]
}

/** Holds the server's clock of a zone against this runtime's, at instants (milliseconds since 1970). */
export async function readZone(
  db: Kysely<Database>,
  timeZone: string,
  instants: readonly number[],
): Promise<ServerZone> {
  const known = await sql<{ isKnown: boolean }>`
    select exists (select from pg_timezone_names where lower(name) = lower(${timeZone})) as "isKnown"`.execute(db)
  if (known.rows[0]?.isKnown !== true) return { isKnown: false, differences: [] }
  const { rows } = await sql<{ wall: string }>`
    select extract(epoch from (to_timestamp(floor(ms / 1000)) at time zone ${timeZone}))::bigint::text as wall
    from unnest(${[...instants]}::float8[]) with ordinality as given (ms, place) order by place`.execute(db)
  const differences = instants.filter((instant, index) => Number(rows[index]?.wall) !== wallTimeAt(instant, timeZone))
  return { isKnown: true, differences }
}
