import { dollarQuoted, inZone, quoteText } from '../quote.ts'
import { mostSeconds, overnight } from './fragments/audience.ts'
import { keepChangedDays } from './fragments/channel-days.ts'
import { addPersons, forgetChangedPersons, joinPersons } from './fragments/identity.ts'
import { localDay } from './fragments/local-time.ts'
import { keepPersons } from './fragments/persons.ts'

const [firstDay, lastDay] = [localDay('g.first_at'), localDay('g.last_at')]

/**
 * Notes the days of which records `from` tell something: that of entry, and those that they last into. Some thousand
 * records are of a few days, so these are found by the first and last instant of each day of UTC: no record lasts past
 * the last leave, nor longer after the last entry than the longest.
 */
const noteDaysOf = (from: string) => `insert into livehouse_ops.changed_channel_days (channel_id, day)
    select g.channel_id, d::date
    from (
      select channel_id, min(entered_at) as first_at, greatest(max(entered_at), least(
        max(coalesce(left_at, entered_at)), max(entered_at) + make_interval(secs => max(${mostSeconds})))) as last_at
      from ${from} w where entered_at is not null group by channel_id, date_bin('1 day', entered_at, 'epoch')
    ) g cross join lateral generate_series(${firstDay}::timestamp, ${lastDay}::timestamp, '1 day') d`

const entryDay = localDay('w.entered_at')
const overAt = `least(w.left_at, w.entered_at + make_interval(secs => ${mostSeconds}))`
/** All days by a look for each in the index on them, and by the few records that last into another. */
const noteAllDays = (from: string) => `insert into livehouse_ops.changed_channel_days (channel_id, day)
    with recursive d (day, channel_id) as (
      (select ${entryDay}, w.channel_id from ${from} w order by 1, 2 limit 1)
      union all
      select n.* from d cross join lateral (
        select ${entryDay}, w.channel_id from ${from} w
        where (${entryDay}, w.channel_id) > (d.day, d.channel_id) order by 1, 2 limit 1
      ) n
    ) select channel_id, day from d where day is not null
    union
    select w.channel_id, d::date from ${from} w
      cross join lateral generate_series((${entryDay} + 1)::timestamp, ${localDay(overAt)}::timestamp, '1 day') d
    where ${overnight.where}`

/** What of the rows a trigger sees, by event. */
const events = {
  insert: 'referencing new table as written',
  update: 'referencing new table as written old table as gone',
  delete: 'referencing old table as gone',
  truncate: '',
}

/** A function that notes with every change of some tables what no longer holds of what is kept. */
interface Noting {
  readonly name: string
  readonly tables: readonly string[]
  /** @param from rows that came or went */
  readonly note: (from: string) => string
  /** Notes all there is; what is kept goes. */
  readonly noteAll: string
  /** What tells how figures are worked out. @param views what tells the views apart */
  readonly versionOf: (views: string) => string
}

/** The channels of a table whose key begins with them: a look for each, however many rows it has. */
const channelsIn = (table: string) => `(
    with recursive c (channel_id) as (
      select min(channel_id) from ${table}
      union all
      select (select min(t.channel_id) from ${table} t where t.channel_id > c.channel_id) from c
      where c.channel_id is not null
    ) select channel_id from c where channel_id is not null)`

/**
 * Of what takes the rows of several tables.
 * @param kept where it stands
 * @param more what tells how it is worked out
 * @param others tables that may still have channels of which these have no row
 */
function noteChannels(
  name: string,
  kept: string,
  tables: readonly string[],
  more = '',
  others: readonly string[] = [],
): Noting {
  const note = (from: string) =>
    `insert into livehouse_ops.${name} (channel_id) select distinct channel_id from ${from}`
  const all = note(`(${[...tables, ...others].map(channelsIn).join(' union all ')}) x`)
  const noteAll = `delete from livehouse_ops.${kept}; delete from livehouse_ops.${name}; ${all}`
  return { name, tables, note, noteAll, versionOf: (views) => `${views}${more}` }
}

const [visitors, records] = ['livehouse.visitors', 'livehouse.watch_records']
/** How they are put together, which the text of the views does not tell. */
const groupsPersons = [forgetChangedPersons(''), addPersons(''), joinPersons(''), keepPersons('')].join('')
const notings: readonly Noting[] = [
  {
    name: 'changed_days',
    tables: [records],
    note: noteDaysOf,
    noteAll: `delete from livehouse_ops.channel_days; delete from livehouse_ops.changed_channel_days;
    ${noteAllDays(records)}`,
    versionOf: () => keepChangedDays(0, '{zone}'),
  },
  noteChannels('changed_channels', 'channel_figures', [visitors, records, 'livehouse.gifts', 'livehouse.signups']),
  noteChannels('changed_persons', 'kept_persons', [visitors], groupsPersons, ['livehouse_ops.viewer_persons']),
]

const bodyOf = ({ note, noteAll }: Noting) => `begin
  if tg_op = 'TRUNCATE' or tg_nargs > 0 then
    ${noteAll};
    return null;
  end if;
  if tg_op in ('INSERT', 'UPDATE') then
    ${note('written')};
  end if;
  if tg_op in ('UPDATE', 'DELETE') then
    ${note('gone')};
  end if;
  return null;
end`

const functionOf = ({ name }: Noting) => `livehouse_ops.note_${name}()`
const versionIn = (noting: Noting, timeZone: string, views: string) =>
  inZone(`${bodyOf(noting)}\n${noting.versionOf(views)}`, timeZone)
const commentOf = (noting: Noting) => `obj_description(to_regprocedure('${functionOf(noting)}'), 'pg_proc')`

/** Nobody else works figures out until the end of the transaction, as `lockName` does. */
export const FIGURES = 'channel days'
export const lockFigures = `insert into livehouse_ops.locks (name) values ('${FIGURES}')
  on conflict (name) do update set name = excluded.name`

/** How the database notes changes, and by its notes how figures are worked out, with the zone of the views. */
export const notesIn = `select time_zone as zone, concat(${notings.map(commentOf).join(', ')}) as notes
  from livehouse_ops.bi_settings`

/** The same as this livehouse has it. @param views what tells the views apart */
export function notesOf(timeZone: string, views: string): string {
  return notings.map((noting) => versionIn(noting, timeZone, views)).join('')
}

/**
 * Has the database note, with every change of a row, the days and channels whose figures no longer hold, by whatever
 * way it came. Where it has not done so up to now, or they were worked out otherwise, all are noted: nothing that was
 * kept holds.
 */
export function noteChanges(timeZone: string, views: string): readonly string[] {
  return notings.map((noting) => {
    const { name, tables, noteAll } = noting
    const func = functionOf(noting)
    // The comment stands for how changes are noted and figures worked out.
    const comment = quoteText(versionIn(noting, timeZone, views))
    const triggers = tables.flatMap((table) =>
      Object.entries(events).map(([event, rows]) => [event, `${event} on ${table} ${rows}`, '']),
    )
    // Who is one with whom hangs on them, too.
    if (name === 'changed_persons')
      triggers.push(['settings', 'update of ignored_ids on livehouse_ops.bi_settings', "'all'"])
    const made = triggers.map(
      ([trigger, on, argument]) => `create or replace trigger ${name}_${trigger} after ${on}
      for each statement execute function ${func.replace('()', `(${argument})`)};`,
    )
    return `do ${dollarQuoted(`begin
  if ${commentOf(noting)} is distinct from ${comment} then
    create or replace function ${func} returns trigger language plpgsql set search_path = pg_catalog
      as ${dollarQuoted(inZone(bodyOf(noting), timeZone))};
    comment on function ${func} is ${comment};
    ${made.join('\n    ')}
    ${inZone(noteAll, timeZone)};
  end if;
end`)}`
  })
}

/** Takes that away; from then on what is kept no longer holds. */
export const dropNoting: readonly string[] = notings.map(
  (each) => `drop function if exists ${functionOf(each)} cascade`,
)
