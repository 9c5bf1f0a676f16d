import { ALL_TIME, type Figure, rowsOf } from './channel-figures.ts'
import { hash } from './masks.ts'

/** The key of a viewer of a channel; unambiguous, as channel ids have no colon. */
export function viewerKey(channelId: string, userId: string): string {
  return `${channelId} || ':' || ${userId}`
}

/** Blanks and zero-width characters, for a pattern in `E''`: they often come along when an id or phone is copied. */
const BLANKS = ' \\t\\r\\n\\u00a0\\u00ad\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u3000\\ufeff'

/**
 * A phone number that can identify a person: its last 11 digits, which is a Chinese number without country code; NULL
 * for one that is masked or garbled.
 */
function phoneNumber(phone: string): string {
  return (
    `case when ${phone} ~ '^[0-9]{11}$' then ${phone} ` +
    `when ${phone} ~ E'^[()${BLANKS}-]*[+＋]?([()${BLANKS}-]*[0-9]){7,15}[()${BLANKS}-]*$' ` +
    `then right(regexp_replace(${phone}, '[^0-9]', '', 'g'), 11) end`
  )
}

/**
 * The ids that group viewers into persons, the most reliable first. The first character of `viewer_persons.person` is
 * the position in this list, from 1.
 */
const idColumns = ['outer_id', 'assign_id', 'phone'] as const

/** The id that names the person of a row of viewer_persons; `none` if there is no row. */
export function identityBasis(row: string): string {
  const kinds = idColumns.map((basis, index) => `when '${index + 1}' then '${basis}'`)
  return `case left(${row}.person, 1) ${kinds.join(' ')} else 'none' end`
}

/** The key of the person of a row of viewer_persons, the same for every reader; NULL if there is no row. */
export function personKey(row: string): string {
  const id = `substr(${row}.person, 2)`
  // Depends on the kinds that are masked, not on the role of the reader.
  const isMasked = (basis: string) => `(select '${basis}' = any (s.masked) from livehouse_ops.bi_settings s)`
  const readableId = (basis: (typeof idColumns)[number]) =>
    basis === 'phone' ? hash(id) : `case when ${isMasked(basis)} then ${hash(id)} else ${id} end`
  const kinds = idColumns.map((basis, index) => `when '${index + 1}' then '${basis}:' || ${readableId(basis)}`)
  return `case left(${row}.person, 1) ${kinds.join(' ')} end`
}

/** The key of a viewer's person, by `joinPerson`; without a row there, the viewer is a person of its own. */
export function personOf(channelId: string, userId: string): string {
  return `coalesce(${personKey('i')}, 'viewer:' || ${viewerKey(channelId, userId)})`
}

/** Joins the row of viewer_persons of a viewer as `i`. */
export function joinPerson(channelId: string, userId: string): string {
  return `left join livehouse_ops.viewer_persons i on i.channel_id = ${channelId} and i.user_id = ${userId}`
}

/** In lower case, without blanks and zero-width characters; NULL if nothing is left. */
const normaliseId = (id: string) => `nullif(regexp_replace(lower(${id}), E'[${BLANKS}]', '', 'g'), '')`
/** Whether an id is a placeholder. Each query hashes the list once. */
const isIgnored = (id: string) => `${id} in (select unnest(s.ignored_ids) from livehouse_ops.bi_settings s)`
const unlessIgnored = (id: string) => `case when not n.${isIgnored(id)} then n.${id} end`
const idsOf = (row: string) => idColumns.map((basis) => `${row}.${basis}`).join(', ')

/**
 * Rows with their ids as they are compared, each evaluated once (`offset 0`); NULL for an id that identifies nobody.
 * @param rows as SQL
 * @param extra further columns of them, each followed by a comma
 */
const comparableIds = (rows: string, extra: string) => `(
      select ${extra}${idColumns.map((basis) => `${unlessIgnored(basis)} as ${basis}`).join(', ')}
      from (
        select ${extra}${normaliseId('v.outer_id')} as outer_id, ${normaliseId('v.assign_id')} as assign_id,
          ${phoneNumber('v.phone')} as phone
        from (${rows}) v offset 0
      ) n offset 0
    ) n`

/**
 * Deletes each person of whom a viewer in some channels now has other ids, or none. Most raw ids equal the stored ones,
 * so most unchanged viewers are recognised without normalising their ids. Like the statements below, it returns the
 * channels of the rows that it changes. @param channels an array, as SQL
 */
export const forgetChangedPersons = (channels: string) => `delete from livehouse_ops.viewer_persons where person in (
    select n.person from ${comparableIds(
      `select p.person, array[${idsOf('p')}] as held, ${idsOf('v')}
          from livehouse_ops.viewer_persons p left join livehouse.visitors v
            on v.channel_id = any(${channels}) and v.channel_id = p.channel_id and v.user_id = p.user_id
          where p.channel_id = any(${channels}) and ((${idsOf('v')}) is distinct from (${idsOf('p')})
            or ${idColumns.map((basis) => isIgnored(`p.${basis}`)).join(' or ')})`,
      'person, held, ',
    )}
    where array[${idsOf('n')}] is distinct from n.held) returning channel_id`

const candidates = idColumns.map((basis) => `by_${basis}.person`).join(', ')

/**
 * Adds the viewers of some channels who have no person yet, under the best of their own ids and of those of new viewers
 * who share one of them, so that a first load writes most rows only once.
 */
export const addPersons = (channels: string) => `with n as materialized (
      select n.*, coalesce(${idColumns.map((basis, index) => `'${index + 1}' || n.${basis}`).join(', ')}) as person
      from ${comparableIds(
        `select v.channel_id, v.user_id, ${idsOf('v')} from livehouse.visitors v
          where v.channel_id = any(${channels}) and coalesce(${idsOf('v')}) is not null and not exists (
            select from livehouse_ops.viewer_persons p
            where p.channel_id = any(${channels}) and p.channel_id = v.channel_id and p.user_id = v.user_id)`,
        'channel_id, user_id, ',
      )}
      where coalesce(${idsOf('n')}) is not null
    )
    insert into livehouse_ops.viewer_persons (channel_id, user_id, ${idColumns.join(', ')}, person, is_shared)
    select n.channel_id, n.user_id, ${idsOf('n')}, least(n.person, ${candidates}), coalesce(${candidates}) is not null
    from n ${idColumns
      .map(
        (basis) => `left join (
      select ${basis}, min(person) as person from n where ${basis} is not null group by 1 having count(*) > 1
    ) by_${basis} on by_${basis}.${basis} = n.${basis}`,
      )
      .join(' ')} returning channel_id`

/**
 * One statement for each kind of id, in which viewers who share an id take the smallest person among them. Repeated
 * until no row changes, they yield the connected components, each named after its best id.
 * @param rows condition on the rows to read, as SQL
 */
export const joinPersons = (rows: string): readonly string[] =>
  idColumns.map(
    (basis) => `update livehouse_ops.viewer_persons p set person = g.person, is_shared = true
    from (
      select ${basis}, min(person) as person from livehouse_ops.viewer_persons where ${basis} is not null and ${rows}
      group by ${basis} having count(*) > 1 and (min(person) < max(person) or not bool_and(is_shared))
    ) g where p.${basis} = g.${basis} and (p.person > g.person or not p.is_shared) returning channel_id`,
  )

const viewersInRecords = [
  ['livehouse.watch_records', 'user_id', ''],
  ['livehouse.gifts', 'visitor_id', ' and f.removed_at is null'],
  ['livehouse.signups', 'user_id', ' and f.removed_at is null'],
].map(
  ([table, id, more]) => `select f.${id} as user_id from ${table} f
        where f.channel_id = c.channel_id and f.${id} is not null${more}`,
)

/** Viewers whom a record names, but the visitor list does not. */
export const unlistedViewers: Figure = {
  name: 'unlisted_viewers',
  sql: () => `select distinct ${ALL_TIME}, f.user_id, 1::bigint, null::numeric, null::numeric
    from (
      ${viewersInRecords.join('\n      union all ')}
    ) f
    where not exists (
      select from livehouse.visitors v where v.channel_id = c.channel_id and v.user_id = f.user_id)`,
}

/** The unlisted viewers of all channels: `channel_id`, `user_id`. */
export const unlistedViewerRows = `select channel_id, item as user_id from ${rowsOf(unlistedViewers)} k`

/**
 * A hash with the key of this database, to join and group by in place of a phone or person: rows that Postgres sorts by
 * the phones themselves would leave a view in that order, and reveal hidden digits.
 */
export function joinToken(phone: string): string {
  const hex = `left(encode(sha256(k.inner_pad || '\\x01'), 'hex'), 16)`
  const seed = `(select ('x' || ${hex})::bit(64)::bigint from livehouse_ops.hash_key k)`
  return `hashtextextended(${phone}, ${seed})`
}

/**
 * Joins for a fact that may name its viewer or only a phone: `by_phone` (the only viewer of the channel with this
 * phone), `i` (the person of the viewer) and `somebody` (the person who has this phone anywhere). @param fact alias;
 * @param id its column with the viewer's id
 * @param channel condition on the channel of the facts, for a few channels of many
 */
export function joinViewer(fact: string, id: string, channel = 'is not null'): string {
  // The phone of a fact that names its viewer is neither normalised nor used in the joins.
  const phone = phoneNumber(`(case when ${fact}.${id} is null then ${fact}.phone end)`)
  const ofPhone = (columns: string, more: string) =>
    `select ${joinToken('p.phone')} as token, min(p.phone) as phone_number, ${columns}
    from livehouse_ops.viewer_persons p where p.phone is not null ${more}`
  // Compares the phones too, as two may share a token. Postgres never sorts by `is not distinct from`.
  const matches = (row: string) =>
    `${row}.token = ${joinToken(phone)} and ${row}.phone_number is not distinct from ${phone}`
  return `left join (
    ${ofPhone(
      'p.channel_id, min(p.user_id) as user_id',
      `and p.channel_id ${channel} group by p.channel_id, 1 having count(*) = 1`,
    )}
  ) by_phone on by_phone.channel_id = ${fact}.channel_id and ${matches('by_phone')}
  ${joinPerson(`${fact}.channel_id`, `coalesce(${fact}.${id}, by_phone.user_id)`)}
  left join (
    ${ofPhone('min(p.person) as person', 'group by 1')}
  ) somebody on by_phone.user_id is null and ${matches('somebody')}`
}

/**
 * The key of a gift or signup for analysts. If its time could not be read, the stored key is a plain hash of the whole
 * record, from which a phone number could be guessed: it is hashed again, with the key of this database.
 */
export function eventKey(keySql: string, timeSql: string): string {
  return `case when ${timeSql} is not null then ${keySql} else ${hash(keySql)} end`
}
