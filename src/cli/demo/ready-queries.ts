/** A question that an analyst asks, and the SQL that answers it. */
export interface ReadyQuery {
  readonly title: string
  /** Ready to be pasted into psql; its answer is at most a dozen short lines. */
  readonly text: string
}

/** What the demo answers from its tables. Days are those of the service, which the emulator has in Asia/Shanghai. */
export const readyQueries: readonly ReadyQuery[] = [
  {
    title: 'Watch time per day',
    text: `select (entered_at at time zone 'Asia/Shanghai')::date as day,
       count(distinct user_id) as viewers, count(*) as visits,
       round(sum(watch_seconds) / 3600.0, 1) as hours_watched,
       round(avg(watch_seconds) / 60.0, 1) as minutes_a_visit
from livehouse.watch_records
group by day order by day desc limit 7`,
  },
  {
    title: 'Channels by hours watched',
    text: `select coalesce(c.name, c.channel_id) as channel, count(*) as viewers,
       round(sum(v.watch_seconds) / 3600.0) as hours_watched,
       round(100.0 * sum(v.live_seconds) / nullif(sum(v.watch_seconds), 0)) as live_percent,
       round(avg(v.visit_count), 1) as visits_a_viewer
from livehouse.visitors v join livehouse.channels c using (channel_id)
group by c.channel_id order by hours_watched desc limit 10`,
  },
  {
    title: 'Where the new viewers of the last 7 days came from',
    text: `select coalesce(access_source, '(unknown)') as source, count(*) as new_viewers,
       count(*) filter (where phone is not null) as with_phone
from livehouse.visitors
where first_login_at > now() - interval '7 days'
group by source order by new_viewers desc limit 8`,
  },
  {
    title: 'Gifts by channel and type',
    text: `select coalesce(c.name, c.channel_id) as channel, g.gift_type, count(*) as gifts, sum(g.amount) as amount
from livehouse.gifts g join livehouse.channels c using (channel_id)
group by c.channel_id, g.gift_type order by channel, g.gift_type limit 12`,
  },
  {
    title: 'Signup answers',
    text: `select q.name as questionnaire, a.question_no as no, left(a.question, 20) as question, left(a.answer, 20) as answer,
       count(*) as signups
from livehouse.signup_answers a join livehouse.questionnaires q using (channel_id, question_id)
where a.answer is not null
group by 1, 2, 3, 4 order by signups desc, 1, 2, 4 limit 10`,
  },
]
