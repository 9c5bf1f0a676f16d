/**
 * What is covered of each channel, as multiranges of the service's wall clock, from the ledger: `*_covers` has been
 * read, `*_settled` has been read when its rows no longer changed; `viewers_read_at` is when the last whole reading of
 * the visitor list began. What several partitions make up is covered where all of them are.
 */
export const channelCoverage = `(
    select c.channel_id,
      coalesce(w.covers, '{}') as watch_covers, coalesce(w.settled, '{}') as watch_settled,
      coalesce(g.covers, '{}') as gift_covers, coalesce(g.settled, '{}') as gift_settled,
      coalesce(s.covers, '{}') as signup_covers, coalesce(s.settled, '{}') as signup_settled,
      r.viewers_read_at
    from livehouse.channels c
    left join ${perChannel('watch_records', 1)} w on w.channel_id = c.channel_id
    left join ${perChannel('gifts', 2)} g on g.channel_id = c.channel_id
    left join (
      select channel_id, max(walked_at) filter (where stream = 'visitors') as viewers_read_at,
        max(walked_at) filter (where stream = 'questionnaires') as questionnaires_read_at
      from livehouse_ops.latest_readings where stream in ('visitors', 'questionnaires') group by channel_id
    ) r on r.channel_id = c.channel_id
    left join lateral (
      select case when count(q.question_id) > 0 then range_intersect_agg(coalesce(p.covers, '{}'))
          when r.questionnaires_read_at is not null then '{(,)}' end as covers,
        case when count(q.question_id) > 0 then range_intersect_agg(coalesce(p.settled, '{}'))
          when r.questionnaires_read_at is not null then '{(,)}' end as settled
      from livehouse.questionnaires q
      left join ${perPartition('signups')} p
        on p.partition = 'channel=' || q.channel_id || '/question=' || q.question_id
      where q.channel_id = c.channel_id and not exists (
        select from livehouse_ops.unlisted_questionnaires u
          where u.partition = 'channel=' || q.channel_id || '/question=' || q.question_id
      )
    ) s on true
  )`

function perPartition(stream: string): string {
  return `(select * from livehouse_ops.latest_readings where stream = '${stream}' and covers <> '{}')`
}

/** @param parts how many partitions a channel has */
function perChannel(stream: string, parts: number): string {
  return `(
      select channel_id, case when count(*) = ${parts} then range_intersect_agg(covers) end as covers,
        case when count(*) = ${parts} then range_intersect_agg(settled) end as settled
      from ${perPartition(stream)} parts group by channel_id
    )`
}

/** Whether a whole day of the service lies within a multirange. */
export function holdsDay(ranges: string, day: string): string {
  return `coalesce(${ranges} @> tsrange(${day}::timestamp, (${day} + 1)::timestamp), false)`
}
