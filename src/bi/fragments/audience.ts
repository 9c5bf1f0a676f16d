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

/** What is looked at: all, or one channel on one day. */
interface Scope {
  readonly channelId: string
  readonly day: string
}

/**
 * The audience step by step: `channel_id`, `day`, `minute_at`, from which on `viewers` records are online, `live_viewers` of them
 * with live seconds, until `next_at`. Records are cut at the days' ends, so that a filter on day or channel reaches the table.
 */
export function audienceSteps(scope?: Scope): string {
  const onDay = scope ? ` and w.channel_id = ${scope.channelId} and ${entryDay} = ${scope.day}` : ''
  const intoDay = scope
    ? ` and w.channel_id = ${scope.channelId} and n.day = ${scope.day} and (${overnight.reach} = 1 and ${leaveDay} = ${scope.day} ` +
      `or ${overnight.reach} = 2 and ${leaveDay} >= ${scope.day} and ${entryDay} < ${scope.day})`
    : ''
  return `(
    select s.channel_id, s.day, s.minute_at, sum(s.change) over steps as viewers, sum(s.live_change) over steps as live_viewers,
      lead(s.minute_at) over steps as next_at
    from (
      select p.channel_id, p.day, b.minute_at, sum(b.change) as change, sum(case when p.is_live then b.change else 0 end) as live_change
      from (
        select w.channel_id, ${entryDay} as day, ${minuteOf('w.entered_at')} as from_at, least(e.at, ${startOf(`${entryDay} + 1`)}) as to_at,
          w.live_seconds > 0 as is_live
        ${records} where ${isCounted}${onDay}
        union all
        select w.channel_id, n.day, ${startOf('n.day')}, least(e.at, ${startOf('n.day + 1')}), w.live_seconds > 0
        ${records} ${laterDays} where ${isCounted} and ${overnight.where}${intoDay}
      ) p
      cross join lateral (values (p.from_at, 1), (p.to_at, -1)) b (minute_at, change)
      group by p.channel_id, p.day, b.minute_at
    ) s
    window steps as (partition by s.channel_id, s.day order by s.minute_at)
  )`
}
