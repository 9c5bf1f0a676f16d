import { localDay } from './local-time.ts'

const entryDay = localDay('w.entered_at')
const leaveDay = localDay('w.left_at')
const secondNo = (sql: string) => `floor(date_part('epoch', ${sql}))::bigint`
const startNo = (day: string) => secondNo(`((${day})::timestamp at time zone '{zone}')`)
/** The second of the epoch in which a record `w` begins. */
export const enteredNo = secondNo('w.entered_at')
const leftNo = secondNo('w.left_at')

/**
 * The second after the last in which a record counts: at most its online seconds after entry, not past the time of
 * leaving, and at least one. Times that both stand at a whole minute may have no seconds: then the minute of leaving
 * counts whole.
 */
export const endNo = `greatest(${enteredNo} + 1, least(${enteredNo} + w.online_seconds,
          ${leftNo} + case when ${enteredNo} % 60 = 0 and ${leftNo} % 60 = 0 then 60 else 0 end))`

const records = `from livehouse.watch_records w cross join lateral (select ${endNo} as no) e`
const isCounted = 'coalesce(w.online_seconds > 0, w.left_at is not null) and w.entered_at is not null'
/** 1, 0, or NULL where the record does not tell: version 1 of the interface has no live seconds. */
const isLive = '(w.live_seconds > 0)::integer as live'

/** How an index finds the records that last into a day: by `where`, the few that last beyond their day of entry. */
export const overnight = {
  /** 1: they end on the next day; 2: later. */
  reach: `least(${leaveDay} - ${entryDay}, 2)`,
  leaveDay,
  where: `${leaveDay} > ${entryDay}`,
} as const

/** A viewer more at the first second of a stay, and one less at the second after its last. */
const changes = 'cross join lateral (values (p.from_no, 1, p.live), (p.to_no, -1, -p.live)) b (no, change, live_change)'

/**
 * The audience step by step: `channel_id`, `day`, `from_no`, the second (of the epoch) from which on `viewers` records
 * are online, `live_viewers` of them with live seconds, until `next_no`. Records are cut at the days' ends, so that a
 * filter on day or channel reaches the table.
 */
export const audienceSteps = `(
    select s.channel_id, s.day, s.no as from_no, sum(s.change) over steps as viewers, sum(s.live_change)
      over steps as live_viewers,
      lead(s.no) over steps as next_no
    from (
      select p.channel_id, p.day, b.no, sum(b.change) as change, sum(b.live_change) as live_change
      from (
        select w.channel_id, ${entryDay} as day, ${enteredNo} as from_no, least(e.no,
          ${startNo(`${entryDay} + 1`)}) as to_no, ${isLive}
        ${records} where ${isCounted}
        union all
        select w.channel_id, n.day, ${startNo('n.day')}, least(e.no, ${startNo('n.day + 1')}), ${isLive}
        ${records} cross join lateral (
          select d::date as day from generate_series((${entryDay} + 1)::timestamp,
            ${localDay('to_timestamp(e.no - 1)')}::timestamp, interval '1 day') d
        ) n where ${isCounted} and ${overnight.where}
      ) p ${changes}
      group by p.channel_id, p.day, b.no
    ) s
    window steps as (partition by s.channel_id, s.day order by s.no)
  )`

/**
 * The largest audience of one channel on one day, `viewers` and `live_viewers`, as `audienceSteps` has it, asked for
 * each channel and day by itself. Each record's beginning and end is a step of its own: within a second ends come
 * first, so no sum on the way exceeds those before and after it.
 */
export function audiencePeak(channelId: string, day: string): string {
  const end = startNo(`${day} + 1`)
  const part = (from: string, where: string) =>
    `select ${from} as from_no, least(e.no, ${end}) as to_no, ${isLive}
        ${records} where w.channel_id = ${channelId} and ${isCounted} and ${where}`
  const lastsInto =
    `${overnight.where} and (${overnight.reach} = 1 and ${leaveDay} = ${day} or ${overnight.reach} = 2 ` +
    `and ${leaveDay} >= ${day} and ${entryDay} < ${day})`
  return `(
    select max(s.viewers) as viewers, max(s.live_viewers) as live_viewers
    from (
      select sum(b.change) over steps as viewers, sum(b.live_change) over steps as live_viewers
      from (
        ${part(enteredNo, `${entryDay} = ${day}`)}
        union all
        ${part(startNo(day), `e.no > ${startNo(day)} and ${lastsInto}`)}
      ) p ${changes}
      window steps as (order by b.no, b.change rows unbounded preceding)
    ) s
  )`
}
