import { type BiColumn, bigint, double, integer } from '../../view.ts'

type Durations = Readonly<Record<string, BiColumn>>

/** A duration of one record: `NAME_seconds` and `NAME_hours`. */
export function duration(name: string, sql: string, en: string, zh: string, source?: string): Durations {
  return {
    [`${name}_seconds`]: integer(sql, `${en}, in seconds`, `${zh}（秒）`, source),
    [`${name}_hours`]: double(hours(sql), `${en}, in hours`, `${zh}（小时）`),
  }
}

/** A sum of durations: the same two columns, the seconds as `bigint`. */
export function totalDuration(name: string, sql: string, en: string, zh: string): Durations {
  return {
    [`${name}_seconds`]: bigint(sql, `${en}, in seconds`, `${zh}（秒）`),
    [`${name}_hours`]: double(hours(sql), `${en}, in hours`, `${zh}（小时）`),
  }
}

function hours(seconds: string): string {
  return `(${seconds})::double precision / 3600`
}
