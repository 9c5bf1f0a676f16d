import { type BiView, bool, date, instant, integer, smallint, text } from '../view.ts'

const start = (day: string) => `(${day}::timestamp at time zone '{zone}')`
const today = `(now() at time zone '{zone}')::date`

export const dimDate: BiView = {
  name: 'dim_date',
  grain: { en: 'A day of the service, in its time zone', zh: '服务所在时区的一天' },
  remarks: { en: 'From 2010 to the end of next year.', zh: '从 2010 年到明年年底。' },
  key: ['day'],
  columns: {
    day: date('d.day', 'The day; joins the day of every fact', '日期，关联各事实表的 day'),
    year: integer('extract(year from d.day)::integer', 'Year', '年'),
    quarter: smallint('extract(quarter from d.day)::smallint', 'Quarter, 1 to 4', '季度（1–4）'),
    month: smallint('extract(month from d.day)::smallint', 'Month, 1 to 12', '月（1–12）'),
    day_of_month: smallint('extract(day from d.day)::smallint', 'Day of the month', '当月第几天'),
    year_month: text(`to_char(d.day, 'YYYY-MM')`, 'Year and month, such as 2026-11', '年月，如 2026-11'),
    month_start: date(`date_trunc('month', d.day)::date`, 'First day of the month', '当月第一天'),
    iso_year: integer('extract(isoyear from d.day)::integer', 'Year that the ISO week belongs to', 'ISO 周所属年份'),
    iso_week: smallint('extract(week from d.day)::smallint', 'ISO week, 1 to 53', 'ISO 周（1–53）'),
    week_start: date(`date_trunc('week', d.day)::date`, 'Monday of the week', '当周周一'),
    weekday: smallint('extract(isodow from d.day)::smallint', '1 is Monday, 7 is Sunday', '星期（1 为周一，7 为周日）'),
    starts_at: instant(start('d.day'), 'Start of the day', '当日开始的时刻'),
    ends_at: instant(start('(d.day + 1)'), 'End of the day, exclusive', '当日结束、次日开始的时刻'),
    is_weekend: bool('extract(isodow from d.day) >= 6', 'Whether it is a Saturday or Sunday', '是否周末'),
    is_today: bool(`d.day = ${today}`, 'Whether it is today', '是否今天'),
    is_past: bool(`d.day < ${today}`, 'Whether the day is over', '是否已结束'),
  },
  from: `from (
    select n::date as day from generate_series(timestamp '2010-01-01', make_date(
      extract(year from ${today})::integer + 1, 12, 31)::timestamp, interval '1 day') n
  ) d`,
}
