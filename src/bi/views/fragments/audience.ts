import { localDay } from './local-time.ts'

const entryDay = localDay('w.entered_at')
const leaveDay = localDay('w.left_at')
const minuteOf = (sql: string) => `date_bin('1 minute', ${sql}, timestamptz 'epoch')`
const startOf = (day: string) => `((${day})::timestamp at time zone '{zone}')`

/** The end of the last minute in which a record counts: at most its online seconds after entry, and not past the minute of leaving. */
const endAt = `least(${minuteOf(`w.entered_at + (w.online_seconds - 1) * interval '1 second'`)}, ${minuteOf('w.left_at')}) + interval '1 minute'`

const records = `from livehouse.watch_records w cross join lateral (select ${endAt} as at) e`
const isCounted = 'w.online_seconds is distinct from 0 and e.at > w.entered_at'

/** The days after that of entry into which a record lasts. */
const laterDays = `cross join lateral (
          select d::date as day from generate_series((${entryDay} + 1)::timestamp,
            ${localDay(`e.at - interval '1 minute'`)}::timestamp, interval '1 day') d
        ) n`

/** How an index finds the records that last into a day: by `where`, the few that last beyond their day of entry. */
export const overnight = {
  /** 1: they end on the next day; 2: later. */
  reach: `least(${leaveDay} - ${entryDay}, 2)`,
  leaveDay,
  where: `${leaveDay} > ${entryDay}`,
} as const

/**
 * The audience step by step: `channel_id`, `day`, `minute_at`, from which on `viewers` records are online, `live_viewers` of them
 * with live seconds, until `next_at`. Records are cut at the days' ends, so that a filter on day or channel reaches the table.
 */
export const audienceSteps = `(
    select s.channel_id, s.day, s.minute_at, sum(s.change) over steps as viewers, sum(s.live_change) over steps as live_viewers,
      lead(s.minute_at) over steps as next_at
    from (
      select p.channel_id, p.day, b.minute_at, sum(b.change) as change, sum(case when p.is_live then b.change else 0 end) as live_change
      from (
        select w.channel_id, ${entryDay} as day, ${minuteOf('w.entered_at')} as from_at, least(e.at, ${startOf(`${entryDay} + 1`)}) as to_at,
          w.live_seconds > 0 as is_live
        ${records} where ${isCounted}
        union all
        select w.channel_id, n.day, ${startOf('n.day')}, least(e.at, ${startOf('n.day + 1')}), w.live_seconds > 0
        ${records} ${laterDays} where ${isCounted} and ${overnight.where}
      ) p
      cross join lateral (values (p.from_at, 1), (p.to_at, -1)) b (minute_at, change)
      group by p.channel_id, p.day, b.minute_at
    ) s
    window steps as (partition by s.channel_id, s.day order by s.minute_at)
  )`

const minuteNo = (sql: string) => `floor(date_part('epoch', ${sql}) / 60)::integer`
/** The same end as `endAt`, as the number of the minute after it. */
const endNo = `least(floor((date_part('epoch', w.entered_at) + w.online_seconds - 1) / 60)::integer, ${minuteNo('w.left_at')}) + 1`

/**
 * The largest audience of one channel on one day, `viewers` and `live_viewers`, as `audienceSteps` has it. Asked for each channel and
 * day by itself, so minutes are numbers here, and each record's beginning and end is a step: within a minute ends come first, so no sum
 * on the way exceeds those before and after it.
 */
export function audiencePeak(channelId: string, day: string): string {
  const start = minuteNo(startOf(day))
  const end = minuteNo(startOf(`${day} + 1`))
  const parts = (entered: string, more: string) =>
    `select ${entered} as from_no, least(e.no, ${end}) as to_no, case when w.live_seconds > 0 then 1 else 0 end as live
        from livehouse.watch_records w cross join lateral (select ${endNo} as no) e
        where w.channel_id = ${channelId} and w.online_seconds is distinct from 0 and ${more}`
  const enteredNo = minuteNo('w.entered_at')
  return `(
    select max(s.viewers) as viewers, max(s.live_viewers) as live_viewers
    from (
      select sum(b.change) over steps as viewers, sum(b.live_change) over steps as live_viewers
      from (
        ${parts(enteredNo, `${entryDay} = ${day} and e.no > ${enteredNo}`)}
        union all
        ${parts(
          start,
          `e.no > ${start} and ${overnight.where} and (${overnight.reach} = 1 and ${leaveDay} = ${day} or ${overnight.reach} = 2 ` +
            `and ${leaveDay} >= ${day} and ${entryDay} < ${day})`,
        )}
      ) p
      cross join lateral (values (p.from_no, 1, p.live), (p.to_no, -1, -p.live)) b (minute_no, change, live_change)
      window steps as (order by b.minute_no, b.change rows unbounded preceding)
    ) s
  )`
}
