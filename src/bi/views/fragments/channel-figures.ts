import { inZone } from '../../quote.ts'
import { localDay } from './local-time.ts'

/**
 * A few rows that sum up all rows of a channel. `sql` works them out for the channel of `c`, in the columns `day`,
 * `item`, `number`, `left_value` and `right_value`; `dayOf` is the service's day of an instant.
 */
export interface Figure {
  readonly name: string
  readonly sql: (dayOf: (instant: string) => string) => string
}

const columns = 'day, item, number, left_value, right_value'

/** The `day` of figures over all time. */
export const ALWAYS = `date 'infinity'`

/** A figure of some channels. @param channels a relation, as SQL */
const figureOf = ({ sql }: Figure, channels: string, dayOf = localDay) =>
  `select c.channel_id, x.* from ${channels} c cross join lateral (${sql(dayOf)}) x (${columns})`

/**
 * A figure of each channel: as kept, but worked out on the spot for channels that have changed since. So it is never
 * stale, however the rows were changed.
 */
export function kept(figure: Figure): string {
  return `(
    select k.channel_id, ${columns} from livehouse_ops.channel_figures k
    where k.figure = '${figure.name}' and not exists (
      select from livehouse_ops.changed_channels c where c.channel_id = k.channel_id)
    union all
    ${figureOf(figure, '(select distinct channel_id from livehouse_ops.changed_channels)')}
  )`
}

/**
 * Two statements that work out and keep the figures of some channels, in a session of the service's zone. The second
 * does both, so that the figures include exactly the changes that it ticks off.
 * @param channels as SQL, with commas
 */
export function keepChannels(figures: readonly Figure[], channels: string, timeZone: string): string {
  const names = figures.map(({ name }) => `'${name}'`).join(', ')
  // A cast takes a fifth of the time of `at time zone`, which takes a name without a slash for an abbreviation.
  const dayOf = timeZone.includes('/') ? (instant: string) => `(${instant})::date` : localDay
  const all = figures.map((figure) => {
    const worked = figureOf(figure, `(select unnest(array[${channels}]) as channel_id)`, dayOf)
    return `select '${figure.name}', k.* from (${worked}) k`
  })
  const statements = `delete from livehouse_ops.channel_figures
    where figure in (${names}) and channel_id in (${channels});
    with taken as (delete from livehouse_ops.changed_channels where channel_id in (${channels}))
    insert into livehouse_ops.channel_figures (figure, channel_id, ${columns})
    ${all.join('\n    union all ')}`
  return inZone(statements, timeZone)
}
