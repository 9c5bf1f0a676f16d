import { type BiColumn, type BiColumns, date, double, instant, localTime } from '../../view.ts'

/** The service's wall clock at an instant. */
export function local(instantSql: string): string {
  return `((${instantSql}) at time zone '{zone}')`
}

/** The service's day of an instant. The index on watch records is made of the same expression. */
export function localDay(instantSql: string): string {
  return `((${instantSql}) at time zone '{zone}')::date`
}

/** An instant, the wall clock of the service at it, and its day: `NAME_at`, `NAME_at_local`, `NAME_day`. */
export function moment(name: string, at: BiColumn): BiColumns {
  return {
    [`${name}_at`]: at,
    [`${name}_at_local`]: wallClock(name, at.sql),
    [`${name}_day`]: date(localDay(at.sql), `Day of the service of ${name}_at`, `${name}_at 所在的服务当地日期`),
  }
}

/** When a row happened: `day`, the instant `NAME_at`, and the service's wall clock at it, `NAME_at_local`. */
export function event(name: string, at: BiColumn): BiColumns {
  const day = date(localDay(at.sql), `Day of ${name}_at; joins dim_date`, `${name}_at 的日期，关联 dim_date`)
  return { day, [`${name}_at`]: at, [`${name}_at_local`]: wallClock(name, at.sql) }
}

/** The beginning of a minute. */
export function minute(at: string): BiColumns {
  return {
    minute_at: instant(at, 'Beginning of the minute, an instant', '该分钟的开始时刻'),
    minute_at_local: wallClock('minute', at),
  }
}

function wallClock(name: string, at: string): BiColumn {
  return localTime(local(at), `${name}_at on the wall clock of the service`, `${name}_at 的服务当地时间`)
}

/** A duration in seconds, and the same in hours: `NAME_seconds` and `NAME_hours`. */
export function duration(name: string, seconds: BiColumn): BiColumns {
  const hours = `(${seconds.sql})::double precision / 3600`
  return {
    [`${name}_seconds`]: seconds,
    [`${name}_hours`]: double(hours, `${name}_seconds in hours`, `${name}_seconds 折合的小时数`),
  }
}
