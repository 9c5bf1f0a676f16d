import { fillZone } from '../../quote.ts'
import { localDay } from './local-time.ts'

/**
 * A summary of all rows of a channel in a few rows. `sql` selects them for channel `c`, in the columns `day`, `item`,
 * `number`, `left_value` and `right_value`; `dayOf` makes the expression for the day of an instant.
 */
export interface Figure {
  readonly name: string
  readonly sql: (dayOf: (instant: string) => string) => string
}

const columns = 'day, item, number, left_value, right_value'

/** The `day` of figures over all time. */
export const ALL_TIME = `date 'infinity'`

/** Computes a figure of some channels. @param channels a relation, as SQL */
const computeFigure = ({ sql }: Figure, channels: string, dayOf = localDay) =>
  `select c.channel_id, x.* from ${channels} c cross join lateral (${sql(dayOf)}) x (${columns})`

/**
 * A figure of each channel: as stored, but computed by the query for channels that have changed since. So it is never
 * stale, whatever changed the rows.
 */
export function rowsOf(figure: Figure): string {
  return `(
    select k.channel_id, ${columns} from livehouse_ops.channel_figures k
    where k.figure = '${figure.name}' and not exists (
      select from livehouse_ops.changed_channels c where c.channel_id = k.channel_id)
    union all
    ${computeFigure(figure, '(select distinct channel_id from livehouse_ops.changed_channels)')}
  )`
}

/**
 * Two statements that compute and store the figures of some channels, in a session of the zone of the service. The
 * second also deletes the notes of changes, so that the figures, of the same snapshot, include exactly those.
 * @param channels text literals, separated by commas
 */
export function refreshChannels(figures: readonly Figure[], channels: string, timeZone: string): string {
  const names = figures.map(({ name }) => `'${name}'`).join(', ')
  // A cast takes a fifth of the time of `at time zone`, which may read a name without a slash as an abbreviation.
  const dayOf = timeZone.includes('/') ? (instant: string) => `(${instant})::date` : localDay
  const all = figures.map((figure) => {
    const computed = computeFigure(figure, `(select unnest(array[${channels}]) as channel_id)`, dayOf)
    return `select '${figure.name}', k.* from (${computed}) k`
  })
  const statements = `delete from livehouse_ops.channel_figures
    where figure in (${names}) and channel_id in (${channels});
    with taken as (delete from livehouse_ops.changed_channels where channel_id in (${channels}))
    insert into livehouse_ops.channel_figures (figure, channel_id, ${columns})
    ${all.join('\n    union all ')}`
  return fillZone(statements, timeZone)
}
