import { types } from 'pg'

const TIMESTAMP = 1114
const DATE = 1082
const TIMESTAMP_ARRAY = 1115
const DATE_ARRAY = 1182

const wallClockTypes: ReadonlySet<number> = new Set([TIMESTAMP, DATE, TIMESTAMP_ARRAY, DATE_ARRAY])

/**
 * How values of Postgres arrive: `int8` and `numeric` as exact decimal text and `timestamptz` as `Date`, as the driver
 * does by itself; `date` and `timestamp` as text, because they are readings of the service's calendar and clock that a
 * `Date` would move into this machine's zone. `jsonb` is parsed.
 */
export const pgTypes = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    wallClockTypes.has(oid) ? (value: string) => value : types.getTypeParser(oid, format),
}
