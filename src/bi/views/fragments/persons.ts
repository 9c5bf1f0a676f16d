import { hiddenOrder } from './identity.ts'

const latest = (column: string) =>
  `(array_agg(v.${column} order by v.last_online_at desc nulls last, v.channel_id, v.user_id)
        filter (where v.${column} is not null))[1]`
const same = (column: string) => `v.${column}`

/** What is told of a person: the column, of several viewers `v`, and of one. */
const told: readonly (readonly [name: string, ofViewers: string, ofViewer: string])[] = [
  ...['outer_id', 'assign_id', 'nickname', 'phone'].map((name) => [name, latest(name), same(name)] as const),
  ['viewer_count', 'count(*)', '1::bigint'],
  ...['visit_count', 'watch_seconds', 'live_seconds', 'vod_seconds'].map(
    (name) => [name, `sum(v.${name})`, `v.${name}::bigint`] as const,
  ),
  ['first_login_at', 'min(v.first_login_at)', same('first_login_at')],
  ['last_online_at', 'max(v.last_online_at)', same('last_online_at')],
]
const token = hiddenOrder('i.person')
const columns = ['person', 'channels', ...told.map(([name]) => name)].join(', ')
export const toldOfKept = told.map(([name]) => `k.${name}`).join(', ')
export const toldOfViewer = told.map(([, , ofViewer]) => ofViewer).join(', ')
export const toldOfUnlisted = told.map(([name]) => (name === 'viewer_count' ? '1::bigint' : 'null')).join(', ')

/** Persons of whom something has changed in some channels: those of viewers there, and those who had some. */
const staleIn = (channels: string) => `select ${token} as token from livehouse_ops.viewer_persons i
      where i.channel_id in (select channel_id from ${channels})
      union
      select k.token from livehouse_ops.kept_persons k where k.channels && array(select channel_id from ${channels})`

/** Those of `stale` as their viewers are now; nothing is joined where there are none. */
const renewed = `select ${token} as token, i.person, array_agg(distinct v.channel_id),
      ${told.map(([, ofViewers]) => ofViewers).join(', ')}
    from livehouse_ops.viewer_persons i
    join livehouse.visitors v on v.channel_id = i.channel_id and v.user_id = i.user_id
    where exists (select from stale) and ${token} in (select token from stale) group by 1, 2`

/**
 * Who is known by more than a viewer id, a row each: as it was kept, but for those of whom something has changed since.
 * So it is never stale. Nothing is joined by the person itself: its order would tell the digits of a phone.
 */
export const persons = `(
    with stale as (${staleIn('livehouse_ops.changed_persons')})
    select ${columns} from livehouse_ops.kept_persons k where not exists (select from stale s where s.token = k.token)
    union all
    select ${columns} from (${renewed}) r (token, ${columns})
  )`

/** Keeps those of whom something has changed: what it adds up is what it saw of the changes that it takes away. */
export const keepPersons = `with taken as (delete from livehouse_ops.changed_persons returning channel_id),
    stale as (${staleIn('taken')}),
    gone as (delete from livehouse_ops.kept_persons k using stale s where s.token = k.token)
    insert into livehouse_ops.kept_persons (token, ${columns})
    ${renewed}`
