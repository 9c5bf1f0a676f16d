import { endNo, enteredNo, isCounted } from './audience.ts'
import { channelDays } from './channel-days.ts'
import { localDay, toLocal } from './local-time.ts'

const beginsAt = 'to_timestamp(b.from_no)'
const setting = (name: string) => `(select s.broadcast_${name}_minutes * 60 from livehouse_ops.bi_settings s)`

/**
 * The broadcasts of each channel: `channel_id`, and the epoch seconds `from_no` and `to_no`, the end exclusive. Live
 * visits that overlap, or follow one another within the gap, are one broadcast; one that is shorter than the minimum is
 * left out.
 */
export const broadcasts = `(
    select i.channel_id, min(i.from_no) as from_no, max(i.to_no) as to_no
    from (
      select s.channel_id, s.from_no, s.to_no, count(*) filter (where s.from_no > s.reached_no + ${setting('gap')})
        over (partition by s.channel_id order by s.from_no, s.to_no rows unbounded preceding) as island
      from (
        select d.channel_id, lower(r) as from_no, upper(r) as to_no, max(upper(r)) over (
          partition by d.channel_id order by lower(r), upper(r) rows between unbounded preceding
            and 1 preceding) as reached_no
        from ${channelDays} d cross join lateral unnest(d.live_spans) r
      ) s
    ) i
    group by i.channel_id, i.island having max(i.to_no) - min(i.from_no) >= ${setting('min')}
  )`

/**
 * The key of a broadcast `b`, from its local minute. When clocks are set back an hour comes twice, and Postgres reads a
 * local time in it as the second one: a key in the first gets the suffix A.
 */
export const broadcastKey = `b.channel_id || ':' || to_char(${toLocal(beginsAt)}, 'YYYYMMDD"T"HH24MI')
    || case when ${toLocal(beginsAt)} at time zone '{zone}' <> ${beginsAt} then 'A' else '' end`

/**
 * What follows `from` to select the visits during a broadcast `b`: the records `w` of its channel that began on its
 * days or the day before, with their seconds `t.from_no` and `t.to_no`, cut at the ends of the broadcast.
 */
export const visitsOfBroadcast = `livehouse.watch_records w
    cross join lateral (select greatest(${enteredNo}, b.from_no) as from_no, least(${endNo},
      b.to_no) as to_no offset 0) t
    where w.channel_id = b.channel_id and t.from_no < t.to_no and ${isCounted}
      and ${localDay('w.entered_at')} between ${localDay('to_timestamp(b.from_no)')} - 1
        and ${localDay('to_timestamp(b.to_no)')}`
