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

const name = 'livehouse_ops.note_changed_days'

const forgetDays = 'delete from livehouse_ops.channel_days; delete from livehouse_ops.changed_channel_days'

const body = `begin
  if tg_op in ('INSERT', 'UPDATE') then
    ${noteDaysOf('written')};
  end if;
  if tg_op in ('UPDATE', 'DELETE') then
    ${noteDaysOf('gone')};
  end if;
  if tg_op = 'TRUNCATE' then
    ${forgetDays};
  end if;
  return null;
end`

/** By event, what of the rows a trigger sees. */
const triggers = {
  insert: 'referencing new table as written',
  update: 'referencing new table as written old table as gone',
  delete: 'referencing old table as gone',
  truncate: '',
}

/**
 * Has the database note, with every change of watch records, the days whose figures no longer hold, by whatever way it
 * came. Where it has not done so up to now, or days were worked out otherwise, every day is noted: nothing that was
 * kept holds.
 */
export function noteChangedDays(timeZone: string): string {
  const zoned = (text: string) => text.replaceAll('{zone}', timeZone.replaceAll("'", "''"))
  // The comment stands for how days are noted and worked out.
  const comment = quoteText(zoned(`${body}\n${keepChangedDays(0, timeZone)}`))
  const made = Object.entries(triggers).map(
    ([event, rows]) => `create or replace trigger changed_days_${event} after ${event} on livehouse.watch_records
      ${rows} for each statement execute function ${name}();`,
  )
  return `do ${dollarQuoted(`begin
  if obj_description(to_regprocedure('${name}()'), 'pg_proc') is distinct from ${comment} then
    create or replace function ${name}() returns trigger language plpgsql set search_path = pg_catalog
      as ${dollarQuoted(zoned(body))};
    comment on function ${name}() is ${comment};
    ${made.join('\n    ')}
    ${forgetDays};
    ${zoned(noteDaysOf('livehouse.watch_records'))};
  end if;
end`)}`
}

/** Takes that away; from then on what is kept no longer holds. */
export const dropNoting = `drop function if exists ${name}() cascade`
