import { dollarQuote, fillZone, quoteText } from '../quote.ts'
import { mostSeconds } from './fragments/audience.ts'
import { refreshChangedDays } from './fragments/channel-days.ts'
import { addPersons, forgetChangedPersons, joinPersons } from './fragments/identity.ts'
import { localDay } from './fragments/local-time.ts'
import { refreshPersons } from './fragments/persons.ts'

const [firstDay, lastDay] = [localDay('g.first_at'), localDay('g.last_at')]

/**
 * Notes the days that the records `from` may touch, from the day of entry to the last that they reach. A batch of some
 * thousand records spans few days, so the first and last instant for each UTC day of entry are enough: no record lasts
 * past the latest leave, nor past the latest entry by more than the longest stay.
 */
const noteDaysOf = (from: string) => `insert into livehouse_ops.changed_channel_days (channel_id, day)
    select g.channel_id, d::date
    from (
      select channel_id, min(entered_at) as first_at, greatest(max(entered_at), least(
        max(coalesce(left_at, entered_at)), max(entered_at) + make_interval(secs => max(${mostSeconds})))) as last_at
      from ${from} w where entered_at is not null group by channel_id, date_bin('1 day', entered_at, 'epoch')
    ) g cross join lateral generate_series(${firstDay}::timestamp, ${lastDay}::timestamp, '1 day') d`

/** The transition tables of each trigger, by event. */
const events = {
  insert: 'referencing new table as written',
  update: 'referencing new table as written old table as gone',
  delete: 'referencing old table as gone',
  truncate: '',
}

/** A trigger function that notes, with every change of some tables, which stored figures are stale. */
interface ChangeTrigger {
  readonly name: string
  readonly tables: readonly string[]
  /** @param from the new or the old rows, as SQL */
  readonly note: (from: string) => string
  /** Deletes the stored figures, and notes everything. */
  readonly noteAll: string
  /** A text that differs when figures are computed in another way. @param views version of the views */
  readonly versionOf: (views: string) => string
}

/** The channels of a table whose key begins with them, found by one index lookup each, however many rows there are. */
const channelsIn = (table: string) => `(
    with recursive c (channel_id) as (
      select min(channel_id) from ${table}
      union all
      select (select min(t.channel_id) from ${table} t where t.channel_id > c.channel_id) from c
      where c.channel_id is not null
    ) select channel_id from c where channel_id is not null)`

const noteChannels = (notes: string) => (from: string) =>
  `insert into livehouse_ops.${notes} (channel_id) select distinct channel_id from ${from}`

/** Deletes the figures of channels that are stored in a table, and notes all channels of other tables. */
const noteAllChannels = (notes: string, stored: string, tables: readonly string[]) =>
  `delete from livehouse_ops.${stored}; delete from livehouse_ops.${notes}; ` +
  noteChannels(notes)(`(${tables.map(channelsIn).join(' union all ')}) x`)

const figureTables = ['visitors', 'watch_records', 'gifts', 'signups'].map((name) => `livehouse.${name}`)
/** The statements that group persons, which the views do not contain. */
const groupingStatements = [forgetChangedPersons(''), addPersons(''), joinPersons(''), refreshPersons('')].join('')

const changeTriggers: readonly ChangeTrigger[] = [
  {
    name: 'changed_days',
    tables: ['livehouse.watch_records'],
    note: noteDaysOf,
    noteAll: `delete from livehouse_ops.channel_days; delete from livehouse_ops.changed_channel_days;
    ${noteDaysOf('livehouse.watch_records')}`,
    versionOf: () => refreshChangedDays(0, '{zone}'),
  },
  {
    name: 'changed_channels',
    tables: figureTables,
    note: noteChannels('changed_channels'),
    noteAll: noteAllChannels('changed_channels', 'channel_figures', figureTables),
    versionOf: (views) => views,
  },
  {
    name: 'changed_persons',
    tables: ['livehouse.visitors'],
    note: noteChannels('changed_persons'),
    // Persons may be left in channels that have no visitors any more.
    noteAll: noteAllChannels('changed_persons', 'kept_persons', ['livehouse.visitors', 'livehouse_ops.viewer_persons']),
    versionOf: (views) => `${views}${groupingStatements}`,
  },
]

const bodyOf = ({ note, noteAll }: ChangeTrigger) => `begin
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

const functionOf = ({ name }: ChangeTrigger) => `livehouse_ops.note_${name}()`
const versionOfTrigger = (trigger: ChangeTrigger, timeZone: string, views: string) =>
  fillZone(`${bodyOf(trigger)}\n${trigger.versionOf(views)}\n{zone}`, timeZone)
const commentOf = (trigger: ChangeTrigger) => `obj_description(to_regprocedure('${functionOf(trigger)}'), 'pg_proc')`

/** The lock that lets one process at a time compute figures; `lockFigures` holds it until the transaction ends. */
export const FIGURES_LOCK = 'channel days'
export const lockFigures = `insert into livehouse_ops.locks (name) values ('${FIGURES_LOCK}')
  on conflict (name) do update set name = excluded.name`

/** Selects the version of the triggers and figures in the database, and the time zone of its views. */
export const storedVersion = `select time_zone as zone, concat(${changeTriggers.map(commentOf).join(', ')}) as version
  from livehouse_ops.bi_settings`

/** The same, of this livehouse. @param views version of the views */
export function triggersVersion(timeZone: string, views: string): string {
  return changeTriggers.map((trigger) => versionOfTrigger(trigger, timeZone, views)).join('')
}

/**
 * Creates triggers that note, whatever program changes a row, the days and channels whose stored figures are stale. If
 * they were missing or of another version, all stored figures are deleted and everything is noted.
 */
export function createChangeTriggers(timeZone: string, views: string): readonly string[] {
  return changeTriggers.map((trigger) => {
    const { name, tables, noteAll } = trigger
    const func = functionOf(trigger)
    // The comment holds the version: how changes are noted and figures computed.
    const comment = quoteText(versionOfTrigger(trigger, timeZone, views))
    const actions = tables.flatMap((table) =>
      Object.entries(events).map(([event, rows]) => [event, `${event} on ${table} ${rows}`, '']),
    )
    // Ignored ids also decide which viewers are one person.
    if (name === 'changed_persons')
      actions.push(['settings', 'update of ignored_ids on livehouse_ops.bi_settings', "'all'"])
    const statements = actions.map(
      ([suffix, action, argument]) => `create or replace trigger ${name}_${suffix} after ${action}
      for each statement execute function ${func.replace('()', `(${argument})`)};`,
    )
    return `do ${dollarQuote(`begin
  if ${commentOf(trigger)} is distinct from ${comment} then
    create or replace function ${func} returns trigger language plpgsql set search_path = pg_catalog
      as ${dollarQuote(fillZone(bodyOf(trigger), timeZone))};
    comment on function ${func} is ${comment};
    ${statements.join('\n    ')}
    ${fillZone(noteAll, timeZone)};
  end if;
end`)}`
  })
}

/** Drops the triggers, without which stored figures are not valid. */
export const dropChangeTriggers: readonly string[] = changeTriggers.map(
  (each) => `drop function if exists ${functionOf(each)} cascade`,
)
