import { dollarQuoted, quoteText } from '../quote.ts'
import { mostSeconds } from './fragments/audience.ts'
import { keepChangedDays } from './fragments/channel-days.ts'
import { localDay } from './fragments/local-time.ts'

const [firstDay, lastDay] = [localDay('g.first_at'), localDay('g.last_at')]

/**
 * Notes the days of which records `from` tell something: that of entry, and those that they last into. Some thousand
 * records are of a few days, so these are found by the first and last instant of each day of UTC.
 */
const noteDaysOf = (from: string) => `insert into livehouse_ops.changed_channel_days (channel_id, day)
    select g.channel_id, d::date
    from (
      select channel_id, min(entered_at) as first_at, max(greatest(entered_at, least(coalesce(left_at, entered_at),
        entered_at + make_interval(secs => ${mostSeconds})))) as last_at
      from ${from} w where entered_at is not null group by channel_id, date_bin('1 day', entered_at, 'epoch')
    ) g cross join lateral generate_series(${firstDay}::timestamp, ${lastDay}::timestamp, '1 day') d`

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
  readonly onTruncate: string
  /** Notes all there is. */
  readonly noteAll: string
  /** What tells how figures are worked out. @param views what tells the views apart */
  readonly versionOf: (views: string) => string
}

const noteChannelsOf = (from: string) =>
  `insert into livehouse_ops.changed_channels (channel_id) select distinct channel_id from ${from}`
const forgetDays = 'delete from livehouse_ops.channel_days; delete from livehouse_ops.changed_channel_days'
const tablesOfFigures = ['visitors', 'watch_records', 'gifts', 'signups'].map((table) => `livehouse.${table}`)

const notings: readonly Noting[] = [
  {
    name: 'changed_days',
    tables: ['livehouse.watch_records'],
    note: noteDaysOf,
    onTruncate: forgetDays,
    noteAll: `${forgetDays}; ${noteDaysOf('livehouse.watch_records')}`,
    versionOf: () => keepChangedDays(0, '{zone}'),
  },
  {
    name: 'changed_channels',
    // Gifts and signups are matched by the phones of the channel's viewers.
    tables: [...tablesOfFigures, 'livehouse_ops.viewer_persons'],
    note: noteChannelsOf,
    onTruncate: noteChannelsOf('livehouse_ops.channel_figures'),
    noteAll: `delete from livehouse_ops.channel_figures; delete from livehouse_ops.changed_channels;
    ${noteChannelsOf(`(${tablesOfFigures.map((table) => `select channel_id from ${table}`).join(' union all ')}) x`)}`,
    versionOf: (views) => views,
  },
]

const bodyOf = ({ note, onTruncate }: Noting) => `begin
  if tg_op in ('INSERT', 'UPDATE') then
    ${note('written')};
  end if;
  if tg_op in ('UPDATE', 'DELETE') then
    ${note('gone')};
  end if;
  if tg_op = 'TRUNCATE' then
    ${onTruncate};
  end if;
  return null;
end`

/**
 * Has the database note, with every change of a row, the days and channels whose figures no longer hold, by whatever
 * way it came. Where it has not done so up to now, or they were worked out otherwise, all are noted: nothing that was
 * kept holds.
 */
export function noteChanges(timeZone: string, views: string): readonly string[] {
  const zoned = (text: string) => text.replaceAll('{zone}', timeZone.replaceAll("'", "''"))
  return notings.map((noting) => {
    const { name, tables, noteAll, versionOf } = noting
    const [func, body] = [functionOf(noting), zoned(bodyOf(noting))]
    // The comment stands for how changes are noted and figures worked out.
    const comment = quoteText(`${body}\n${zoned(versionOf(views))}`)
    const made = tables.flatMap((table) =>
      Object.entries(events).map(
        ([event, rows]) => `create or replace trigger ${name}_${event} after ${event} on ${table}
      ${rows} for each statement execute function ${func};`,
      ),
    )
    return `do ${dollarQuoted(`begin
  if obj_description(to_regprocedure('${func}'), 'pg_proc') is distinct from ${comment} then
    create or replace function ${func} returns trigger language plpgsql set search_path = pg_catalog
      as ${dollarQuoted(body)};
    comment on function ${func} is ${comment};
    ${made.join('\n    ')}
    ${zoned(noteAll)};
  end if;
end`)}`
  })
}

const functionOf = ({ name }: Noting) => `livehouse_ops.note_${name}()`

/** Takes that away; from then on what is kept no longer holds. */
export const dropNoting: readonly string[] = notings.map(
  (each) => `drop function if exists ${functionOf(each)} cascade`,
)
