import { joinToken } from './identity.ts'

/** The last known value, ordered inside: a `distinct` of another aggregate would make Postgres sort it again. */
const latest = (column: string) =>
  `(array_agg(v.${column} order by v.last_online_at desc nulls last, v.channel_id, v.user_id)
        filter (where v.${column} is not null))[1]`

/** The columns of a person: name, expression over several viewers `v`, expression over a single one. */
const fields: readonly (readonly [name: string, ofViewers: string, ofViewer: string])[] = [
  ...['outer_id', 'assign_id', 'nickname', 'phone'].map((name) => [name, latest(name), `v.${name}`] as const),
  ['viewer_count', 'count(*)', '1::bigint'],
  ...['visit_count', 'watch_seconds', 'live_seconds', 'vod_seconds'].map(
    (name) => [name, `sum(v.${name})`, `v.${name}::bigint`] as const,
  ),
  ['first_login_at', 'min(v.first_login_at)', 'v.first_login_at'],
  ['last_online_at', 'max(v.last_online_at)', 'v.last_online_at'],
]
const token = joinToken('i.person')
const columns = ['person', 'channels', ...fields.map(([name]) => name)].join(', ')
export const storedPersonColumns = fields.map(([name]) => `k.${name}`).join(', ')
export const viewerPersonColumns = fields.map(([, , ofViewer]) => ofViewer).join(', ')
export const unlistedPersonColumns = fields.map(([name]) => (name === 'viewer_count' ? '1::bigint' : 'null')).join(', ')

/** Persons who may have changed with some channels: those with viewers there now, or when they were stored. */
const stalePersons = (channels: string) => `select ${token} as token from livehouse_ops.viewer_persons i
      where i.is_shared and i.channel_id = any(${channels})
      union
      select k.token from livehouse_ops.kept_persons k where k.channels && ${channels}`

/** The persons of `stale`, computed from their viewers; nothing is joined if there are none. */
const currentPersons = `select v.token, v.person, array_agg(distinct v.channel_id),
      ${fields.map(([, ofViewers]) => ofViewers).join(', ')}
    from (
      select ${token} as token, i.person, v.*
      from livehouse_ops.viewer_persons i
      join livehouse.visitors v on v.channel_id = i.channel_id and v.user_id = i.user_id
      where i.is_shared and exists (select from stale) and ${token} in (select token from stale)
    ) v group by 1, 2`

/**
 * Persons of several viewers: as stored, but computed by the query for those that may have changed since. So they are
 * never stale. Nothing is joined by the person itself, as its order would reveal digits of a phone.
 */
export const persons = `(
    with stale as (${stalePersons('array(select channel_id from livehouse_ops.changed_persons)')})
    select ${columns} from livehouse_ops.kept_persons k where not exists (select from stale s where s.token = k.token)
    union all
    select ${columns} from (${currentPersons}) r (token, ${columns})
  )`

/**
 * Runs a statement that returns channels, and returns each of them once. Also notes that their figures are stale, as
 * gifts and signups are matched by the phones of viewers.
 */
export const noteChannelsOf = (statement: string) => `with c as (${statement}),
    d as (select distinct channel_id from c),
    noted as (insert into livehouse_ops.changed_channels (channel_id) select channel_id from d)
    select channel_id as channel from d`

/** Computes and stores the persons who may have changed with some channels. @param channels an array, as SQL */
export const refreshPersons = (channels: string) => `with stale as (${stalePersons(channels)}),
    gone as (delete from livehouse_ops.kept_persons k using stale s where s.token = k.token)
    insert into livehouse_ops.kept_persons (token, ${columns})
    ${currentPersons}`
