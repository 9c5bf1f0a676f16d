import type { Kysely } from 'kysely'
import { DAY, offsetAt } from '../../core/wall-clock.ts'
import type { Database } from '../../db/database.ts'
import { readZone, type ServerZone } from '../../db/read-zone.ts'
import { type Check, passed } from './check.ts'

/** Whether the database knows the zone of the service's times: now, and each half year of the last ten. */
export async function checkZone(db: Kysely<Database>, timeZone: string, nowMs: number): Promise<Check> {
  const instants = Array.from({ length: 21 }, (_, index) => nowMs - index * 182 * DAY * 1000)
  return judgeZone(timeZone, await readZone(db, timeZone, instants), nowMs)
}

/** The zone of the service's times, which Postgres turns into instants and this program asks by: both must know the same of it. */
export function judgeZone(timeZone: string, { isKnown, differences }: ServerZone, nowMs: number): Check {
  const name = 'zone'
  const mend =
    'update the time zones of the database server (tzdata), or set LIVEHOUSE_TIMEZONE to a name that both know'
  if (!isKnown) return { name, result: 'failed', seen: `PostgreSQL does not know ${timeZone}`, mend }
  const [first] = differences
  if (first === undefined) return passed(name, `${timeZone} (${offsetAt(nowMs, timeZone)} now), the same in PostgreSQL`)
  const seen = `${timeZone} shows another time in PostgreSQL than here, such as on ${new Date(first).toISOString().slice(0, 10)}`
  return { name, result: 'failed', seen, mend }
}
