import { localDay } from './local-time.ts'

const entryDay = localDay('w.entered_at')
const leaveDay = localDay('w.left_at')
const secondNo = (sql: string) => `floor(date_part('epoch', ${sql}))::bigint`
/** The epoch second at which a day of the service begins. */
export const startNo = (day: string) => secondNo(`((${day})::timestamp at time zone '{zone}')`)
/** The epoch seconds at which a watch record `w` is entered and left. */
export const enteredNo = secondNo('w.entered_at')
export const leftNo = secondNo('w.left_at')

/**
 * The most seconds that a record `w` can last. One with a time of leaving but no online seconds lasts a day at most, as
 * a wrong time may lie thousands of years ahead.
 */
export const mostSeconds = 'coalesce(w.online_seconds, case when w.left_at is not null then 86400 end)'

/** `endNo` of a record `w`, from the epoch seconds of its two times. */
export const endAt = (entered: string, left: string) =>
  `greatest(${entered} + 1, least(${entered} + ${mostSeconds}, coalesce(
          ${left} + case when ${entered} % 60 = 0 and ${left} % 60 = 0 then 60 else 0 end,
          ${startNo(`${entryDay} + 1`)})))`

/**
 * The exclusive end of a record, as an epoch second: at most its online seconds after entry, not past the time of
 * leaving, and at least one second. If both times are whole minutes, they may lack seconds: then the minute of leaving
 * counts in full. A record without a time of leaving ends with its day.
 */
export const endNo = endAt(enteredNo, leftNo)

const records = `from livehouse.watch_records w cross join lateral (select ${endNo} as no) e`
/** Whether a record `w` counts: it has online seconds (where NULL: a time of leaving), and no leave before entry. */
export const isCounted =
  'coalesce(w.online_seconds > 0, w.left_at is not null) and coalesce(w.left_at, w.entered_at) >= w.entered_at'
/** 1 or 0; NULL if unknown, as version 1 of the interface has no live seconds. */
export const liveFlag = '(w.live_seconds > 0)::integer as live'

/** The expressions of the partial index on the few records that last past midnight. */
export const overnight = {
  /** 1: the record ends on the next day; 2: later. */
  reach: `least(${leaveDay} - ${entryDay}, 2)`,
  leaveDay,
  where: `${leaveDay} > ${entryDay}`,
} as const

/**
 * The audience as steps: from epoch second `from_no` to before `next_no`, `viewers` records of `channel_id` are online
 * on `day`, and `live_viewers` of these have live seconds (NULL if unknown). Records are cut at midnight, so that a
 * filter on day or channel reaches the table.
 */
export const audienceSteps = `(
    select s.channel_id, s.day, s.no as from_no, sum(s.change) over steps as viewers, lead(s.no) over steps as next_no,
      case when sum(s.known_change) over steps > 0 then sum(s.live_change) over steps end as live_viewers from (
      select p.channel_id, p.day, b.no, sum(b.change) as change, sum(b.live_change) as live_change,
        sum(b.change) filter (where b.live_change is not null) as known_change
      from (
        select w.channel_id, ${entryDay} as day, ${enteredNo} as from_no, least(e.no,
          ${startNo(`${entryDay} + 1`)}) as to_no, ${liveFlag}
        ${records} where ${isCounted}
        union all
        select w.channel_id, n.day, ${startNo('n.day')}, least(e.no, ${startNo('n.day + 1')}), ${liveFlag}
        ${records} cross join lateral (
          select d::date as day from generate_series((${entryDay} + 1)::timestamp,
            ${localDay('to_timestamp(e.no - 1)')}::timestamp, interval '1 day') d
        ) n where ${isCounted} and ${overnight.where}
      ) p cross join lateral (values (p.from_no, 1, p.live), (p.to_no, -1, -p.live)) b (no, change, live_change)
      group by p.channel_id, p.day, b.no
    ) s
    window steps as (partition by s.channel_id, s.day order by s.no)
  )`
