import { type BiColumn, date, instant, localTime, bigint, double, integer } from '../../view.ts'

/** The service's wall clock at an instant. */
export function local(instantSql: string): string {
  return `((${instantSql}) at time zone '{zone}')`
}

/** The service's day of an instant. The index on watch records is made of the same expression. */
export function localDay(instantSql: string): string {
  return `((${instantSql}) at time zone '{zone}')::date`
}

/** An instant, the wall clock of the service at it, and its day: `NAME_at`, `NAME_at_local`, `NAME_day`. */
export function moment(
  name: string,
  sql: string,
  en: string,
  zh: string,
  source?: string,
): Readonly<Record<string, BiColumn>> {
  return {
    [`${name}_at`]: instant(sql, `${en}, an instant`, `${zh}（带时区的时刻）`, source),
    [`${name}_at_local`]: localTime(local(sql), `${en}, wall clock of the service`, `${zh}（服务所在时区的钟面时间）`),
    [`${name}_day`]: date(localDay(sql), `${en}, day of the service`, `${zh}（服务所在时区的日期）`),
  }
}

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
