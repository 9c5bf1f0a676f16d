import { inZone } from '../../quote.ts'

/**
 * A few rows that sum up all rows of a channel. `sql` works them out for the channels in a relation, in the columns
 * `channel_id`, `day`, `item`, `number`, `left_value` and `right_value`.
 */
export interface Figure {
  readonly name: string
  readonly sql: (channels: string) => string
}

const columns = ['channel_id', 'day', 'item', 'number', 'left_value', 'right_value']
const columnsOf = (alias: string) => columns.map((name) => `${alias}.${name}`).join(', ')

/** The `day` of figures over all time. */
export const ALWAYS = `date 'infinity'`

/** A figure that is worked out channel by channel. @param sql the columns after `channel_id`, for the channel of `c` */
export function figureOf(name: string, sql: string): Figure {
  const names = columns.slice(1).join(', ')
  return {
    name,
    sql: (channels) => `select c.channel_id, x.* from ${channels} c cross join lateral (${sql}) x (${names})`,
  }
}

/**
 * A figure of each channel: as kept, but worked out on the spot for channels that have changed since. So it is never
 * stale, however the rows were changed.
 */
export function kept({ name, sql }: Figure): string {
  return `(
    select ${columnsOf('k')} from livehouse_ops.channel_figures k
    where k.figure = '${name}' and not exists (
      select from livehouse_ops.changed_channels c where c.channel_id = k.channel_id)
    union all
    ${sql('(select distinct channel_id from livehouse_ops.changed_channels)')}
  )`
}

/**
 * Two statements that work out and keep the figures of some channels. The second does both, so that the figures include
 * exactly the changes that it ticks off.
 * @param channels as SQL, with commas
 */
export function keepChannels(figures: readonly Figure[], channels: string, timeZone: string): string {
  const names = figures.map(({ name }) => `'${name}'`).join(', ')
  const all = figures.map(
    ({ name, sql }) =>
      `select '${name}', ${columnsOf('k')} from (${sql(`(select unnest(array[${channels}]) as channel_id)`)}) k`,
  )
  const statements = `delete from livehouse_ops.channel_figures
    where figure in (${names}) and channel_id in (${channels});
    with taken as (delete from livehouse_ops.changed_channels where channel_id in (${channels}))
    insert into livehouse_ops.channel_figures (figure, ${columns.join(', ')})
    ${all.join('\n    union all ')}`
  return inZone(statements, timeZone)
}
