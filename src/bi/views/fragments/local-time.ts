import { type BiColumn, type BiColumns, date, double, instant, localTime } from '../../view.ts'

/** The local time of the service at an instant. */
export function toLocal(instantSql: string): string {
  return `((${instantSql}) at time zone '{zone}')`
}

/** The day of the service at an instant. The indexes on watch records contain the same expression. */
export function localDay(instantSql: string): string {
  return `((${instantSql}) at time zone '{zone}')::date`
}

/** Whether a multirange of local time contains a whole day. */
export function holdsDay(ranges: string, day: string): string {
  return `coalesce(${ranges} @> tsrange(${day}::timestamp, (${day} + 1)::timestamp), false)`
}

/** Columns of an instant, its local time and its day: `NAME_at`, `NAME_at_local`, `NAME_day`. */
export function moment(name: string, at: BiColumn): BiColumns {
  return {
    [`${name}_at`]: at,
    [`${name}_at_local`]: wallClock(name, at.sql),
    [`${name}_day`]: date(localDay(at.sql), `Service day of ${name}_at`, `${name}_at 所在的服务当地日期`),
  }
}

/** Columns of when a fact happened: `day`, the instant `NAME_at`, and its local time `NAME_at_local`. */
export function event(name: string, at: BiColumn): BiColumns {
  const day = date(localDay(at.sql), `Day of ${name}_at; joins dim_date`, `${name}_at 的日期，关联 dim_date`)
  return { day, [`${name}_at`]: at, [`${name}_at_local`]: wallClock(name, at.sql) }
}

/** Columns of the beginning of a minute. */
export function minute(at: string): BiColumns {
  return {
    minute_at: instant(at, 'Start of the minute', '该分钟的开始时刻'),
    minute_at_local: wallClock('minute', at),
  }
}

function wallClock(name: string, at: string): BiColumn {
  return localTime(toLocal(at), `${name}_at in the local time of the service`, `${name}_at 的服务当地时间`)
}

/** Columns of a duration: `NAME_seconds`, and the same in hours, `NAME_hours`. */
export function duration(name: string, seconds: BiColumn): BiColumns {
  const hours = `(${seconds.sql})::double precision / 3600`
  return {
    [`${name}_seconds`]: seconds,
    [`${name}_hours`]: double(hours, `${name}_seconds in hours`, `${name}_seconds 折合的小时数`),
  }
}
