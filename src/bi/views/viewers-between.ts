import type { Language } from '../../core/column.ts'
import { dollarQuote, fillZone, quoteText } from '../quote.ts'
import { rowsOf } from './fragments/channel-figures.ts'
import { localDay } from './fragments/local-time.ts'
import { isTest } from './fragments/shared-columns.ts'
import { viewerReturns } from './viewer-cohort-week.ts'

export const VIEWERS_BETWEEN = 'livehouse_bi.viewers_between(date, date)'

const words = {
  en:
    'Exact number of distinct viewers of each channel with a visit that began on one of the days, from the first to ' +
    'the last; no rows if either is NULL',
  zh: '各频道在起止日期（含）内有访问的去重观众数（精确）；任一日期为 NULL 时无结果',
}
/** The nearest first day of a month, so that at most about a month of visits is read, however long the period is. */
const month = (day: string) => `date_trunc('month', (${day} + 16)::timestamp)::date`
const day = localDay('w.entered_at')
/** A bound of the days on which a viewer in the list must not have come; evaluated once, not for each viewer. */
const boundOfOthers = (end: 'lower' | 'upper') => {
  const at = (days: string) => `(select ${end}(p.${days})::timestamp at time zone '{zone}' from p)`
  return `case w.sign when 1 then ${at('months')} else ${at('asked')} end`
}

/**
 * The viewers of whole months, as stored; plus those who came on asked-for days outside these months, but not in them;
 * minus those who came on days of these months that were not asked for, but on none that was. The last two are one
 * list, sorted by `distinct on` (a plain `distinct` is hashed), so that neighbours in the index are looked up together.
 */
const body = `with p as (
    select daterange(a, b) as asked, daterange(${month('a')}, ${month('b')}) as months
    from (select $1 as a, greatest($1, $2 + 1) as b) d
  )
  select v.channel_id, sum(v.viewers)::bigint, ${isTest('v.channel_id').is_test?.sql}
  from (
    select m.channel_id, m.number as viewers from p join ${rowsOf(viewerReturns)} m on m.day <@ p.months
    where m.left_value is null and coalesce(nullif(m.item, '')::date < lower(p.months), true)
    union all
    select w.channel_id, w.sign
    from (
      select distinct on (w.channel_id, w.user_id, s.sign) w.channel_id, w.user_id, s.sign
      from p cross join lateral (values (1, p.asked, p.months), (-1, p.months, p.asked)) s (sign, days, others)
      cross join lateral unnest(datemultirange(s.days) - datemultirange(s.others)) r (days)
      join livehouse.watch_records w on ${day} >= lower(r.days) and ${day} < upper(r.days)
      where w.user_id is not null order by 1, 2, 3
    ) w
    where (
      select true from livehouse.watch_records o where o.channel_id = w.channel_id and o.user_id = w.user_id
        and o.entered_at >= ${boundOfOthers('lower')} and o.entered_at < ${boundOfOthers('upper')} limit 1
    ) is null
  ) v group by v.channel_id having sum(v.viewers) > 0`

/** Creates the function for all readers of the views. Like the views, it runs with the rights of its owner. */
export function createViewersBetween(timeZone: string, language: Language, roles: readonly string[]): string[] {
  return [
    `create or replace function ${VIEWERS_BETWEEN.replace('(date, date)', '(from_day date, to_day date)')}
  returns table (channel_id text, viewers bigint, is_test boolean) language sql stable strict security definer
  set search_path = pg_catalog, pg_temp set work_mem = '64MB' as ${dollarQuote(fillZone(body, timeZone))}`,
    `comment on function ${VIEWERS_BETWEEN} is ${quoteText(words[language])}`,
    `revoke execute on function ${VIEWERS_BETWEEN} from public`,
    ...(roles.length === 0 ? [] : [`grant execute on function ${VIEWERS_BETWEEN} to ${roles.join(', ')}`]),
  ]
}
