import { type BiColumn, date, double, localTime } from '../../view.ts'

/** The service's wall clock at an instant. */
export function local(instantSql: string): string {
  return `((${instantSql}) at time zone '{zone}')`
}

/** The service's day of an instant. The index on watch records is made of the same expression. */
export function localDay(instantSql: string): string {
  return `((${instantSql}) at time zone '{zone}')::date`
}

type ColumnsOf = Readonly<Record<string, BiColumn>>

/** An instant, the wall clock of the service at it, and its day: `NAME_at`, `NAME_at_local`, `NAME_day`. */
export function moment(name: string, at: BiColumn): ColumnsOf {
  return {
    [`${name}_at`]: at,
    [`${name}_at_local`]: localTime(
      local(at.sql),
      `${name}_at on the wall clock of the service`,
      `${name}_at 的服务当地时间`,
    ),
    [`${name}_day`]: date(localDay(at.sql), `Day of the service of ${name}_at`, `${name}_at 所在的服务当地日期`),
  }
}

/** A duration in seconds, and the same in hours: `NAME_seconds` and `NAME_hours`. */
export function duration(name: string, seconds: BiColumn): ColumnsOf {
  const hours = `(${seconds.sql})::double precision / 3600`
  return {
    [`${name}_seconds`]: seconds,
    [`${name}_hours`]: double(hours, `${name}_seconds in hours`, `${name}_seconds 折合的小时数`),
  }
}
