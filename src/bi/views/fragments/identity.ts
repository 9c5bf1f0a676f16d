import { hashed, isMasked } from './masks.ts'

/** One viewer of one channel. Channel ids have no colon, so this is unambiguous. */
export function viewerKey(channelId: string, userId: string): string {
  return `${channelId} || ':' || ${userId}`
}

/** A phone number that can identify: digits alone, without the country's prefix; NULL for one that the source has masked or garbled. */
export function phoneNumber(phone: string): string {
  return (
    `case when ${phone} ~ '^[0-9]{11}$' then ${phone} ` +
    `when ${phone} ~ '^[+]?[0-9 ()-]{8,20}$' then right(regexp_replace(${phone}, '[^0-9]', '', 'g'), 11) end`
  )
}

/** What the identity of a row of visitors rests on. */
export function identityBasis(viewer: string): string {
  return (
    `case when ${viewer}.outer_id is not null then 'outer_id' when ${viewer}.assign_id is not null then 'assign_id' ` +
    `when ${phoneNumber(`${viewer}.phone`)} is not null then 'phone' else 'none' end`
  )
}

/** Who a row of visitors is, across channels; the same for every reader. */
export function personKey(viewer: string): string {
  const own = (id: 'outer_id' | 'assign_id') =>
    `'${id}:' || case when ${isMasked(id)} then ${hashed(`${viewer}.${id}`)} else ${viewer}.${id} end`
  return (
    `case when ${viewer}.outer_id is not null then ${own('outer_id')} ` +
    `when ${viewer}.assign_id is not null then ${own('assign_id')} ` +
    `else coalesce('phone:' || ${hashed(phoneNumber(`${viewer}.phone`))}, ` +
    `'viewer:' || ${viewerKey(`${viewer}.channel_id`, `${viewer}.user_id`)}) end`
  )
}

/**
 * Who a fact's viewer is: a row of visitors joined to it by channel and user id, or, where the visitor list does not have the
 * viewer, the viewer alone.
 */
export function personOf(viewer: string, channelId: string, userId: string): string {
  return `case when ${viewer}.user_id is not null then ${personKey(viewer)} else 'viewer:' || ${viewerKey(channelId, userId)} end`
}

/** Viewers whom a record names and the visitor list does not have: `channel_id`, `user_id`. */
export const unlistedViewers = unlistedFrom([
  ['livehouse.watch_records', 'user_id', ''],
  ['livehouse.gifts', 'visitor_id', ' and f.removed_at is null'],
  ['livehouse.signups', 'user_id', ' and f.removed_at is null'],
])

function unlistedFrom(facts: readonly (readonly [string, string, string])[]): string {
  return facts
    .map(
      ([table, id, more]) => `select f.channel_id, f.${id} as user_id from ${table} f
    where f.${id} is not null${more} and not exists (
      select from livehouse.visitors v where v.channel_id = f.channel_id and v.user_id = f.${id})`,
    )
    .join('\n    union ')
}

/**
 * What rows are joined and grouped by in place of a phone: a hash under the key of this database. Sorted by the phones themselves, rows
 * would leave a view in their order, from which a reader finds the hidden digits.
 */
function phoneToken(phone: string): string {
  const seed = `(select ('x' || left(encode(sha256(k.inner_pad || '\\x01'), 'hex'), 16))::bit(64)::bigint from livehouse_ops.hash_key k)`
  return `hashtextextended(${phoneNumber(phone)}, ${seed})`
}

/**
 * Joins for a fact that may name its viewer or only a phone: `v` (the visitor), `by_phone` (the only viewer of the channel with this phone)
 * and `somebody` (the only person anywhere with this phone).
 * @param fact alias; @param id its column with the viewer's id
 */
export function joinViewer(fact: string, id: string): string {
  const phone = phoneNumber(`${fact}.phone`)
  const token = phoneToken(`${fact}.phone`)
  // Among viewers of one phone: what tells persons apart, before anything is hashed.
  const identity = `coalesce('outer_id:' || p.outer_id, 'assign_id:' || p.assign_id, '')`
  // No join sorts by `is not distinct from`; it only tells two phones of one token apart.
  return `left join (
    select p.channel_id, ${phoneToken('p.phone')} as token, min(${phoneNumber('p.phone')}) as phone_number, min(p.user_id) as user_id
    from livehouse.visitors p where p.phone is not null group by 1, 2 having count(*) = 1
  ) by_phone on ${fact}.${id} is null and by_phone.channel_id = ${fact}.channel_id and by_phone.token = ${token}
    and by_phone.phone_number is not distinct from ${phone}
  left join livehouse.visitors v on v.channel_id = ${fact}.channel_id and v.user_id = coalesce(${fact}.${id}, by_phone.user_id)
  left join (
    select ${phoneToken('p.phone')} as token, min(${phoneNumber('p.phone')}) as phone_number, min(p.outer_id) as outer_id,
      min(p.assign_id) as assign_id, min(p.phone) as phone, min(p.channel_id) as channel_id, min(p.user_id) as user_id
    from livehouse.visitors p where p.phone is not null group by 1 having min(${identity}) = max(${identity})
  ) somebody on ${fact}.${id} is null and by_phone.user_id is null and somebody.token = ${token}
    and somebody.phone_number is not distinct from ${phone}`
}

/**
 * The identity of a gift or signup as analysts may see it. That of a record whose time could not be read is a plain hash over
 * all of its content, from which a phone number could be guessed: it is hashed once more, under the key.
 */
export function eventKey(keySql: string, timeSql: string): string {
  return `case when ${timeSql} is not null then ${keySql} else ${hashed(keySql)} end`
}
