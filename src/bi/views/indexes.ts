import { dollarQuote, fillZone, quoteText } from '../quote.ts'
import { overnight } from './fragments/audience.ts'
import { localDay } from './fragments/local-time.ts'

/** Removes the alias `w` from expressions, as the definition of an index has none. */
const withoutAlias = (sql: string) => sql.replaceAll('w.', '')

/** Indexes for the views, by name. Those that contain the time zone (`{zone}`) cannot be made by a migration. */
const indexes = {
  // Filters on the day of fct_watch, fct_viewer_day, fct_audience_minute and daily_channel.
  watch_records_day_channel: `livehouse.watch_records ((${localDay('entered_at')}), channel_id)`,
  // The newest rows of fct_watch, whatever their channel.
  watch_records_entered: 'livehouse.watch_records (entered_at)',
  // The few records that last past midnight (fct_audience_minute, peaks of daily_channel).
  watch_records_overnight: withoutAlias(
    `livehouse.watch_records (channel_id, (${overnight.reach}), (${overnight.leaveDay})) where ${overnight.where}`,
  ),
  // Gifts and signups during a broadcast.
  gifts_given: 'livehouse.gifts (channel_id, given_at)',
  signups_signed_up: 'livehouse.signups (channel_id, signed_up_at)',
} as const

/** Creates indexes that are missing, and replaces those of another zone or version. */
export function createIndexes(timeZone: string): readonly string[] {
  return Object.entries(indexes).map(([name, on]) => {
    const definition = fillZone(on, timeZone)
    const comment = quoteText(definition)
    // The comment holds the definition, as Postgres stores it in another form.
    return `do ${dollarQuote(`begin
  if obj_description(to_regclass('livehouse.${name}'), 'pg_class') is distinct from ${comment} then
    drop index if exists livehouse.${name};
    create index ${name} on ${definition};
    comment on index livehouse.${name} is ${comment};
    -- Without statistics on the expression, Postgres expects a third of all rows in a month.
    analyze ${definition.split(' ')[0]};
  end if;
end`)}`
  })
}

/** Statements that drop all of them. */
export const dropIndexes: readonly string[] = Object.keys(indexes).map(
  (name) => `drop index if exists livehouse.${name}`,
)
