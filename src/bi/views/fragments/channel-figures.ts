import { inZone } from '../../quote.ts'

/**
 * What all rows of a channel add up to, in few rows: its name, and how it is worked out of those channels that a
 * relation has, in the columns `channel_id`, `day`, `item`, `number`, `left_value` and `right_value`.
 */
export interface Figure {
  readonly name: string
  readonly sql: (channels: string) => string
}

const columns = ['channel_id', 'day', 'item', 'number', 'left_value', 'right_value']
const columnsOf = (alias: string) => columns.map((name) => `${alias}.${name}`).join(', ')

/** For figures of all time. */
export const ALWAYS = `date 'infinity'`

/** A figure that is worked out channel by channel. @param sql of the channel of `c`, the columns behind its id */
export function figureOf(name: string, sql: string): Figure {
  const names = columns.slice(1).join(', ')
  return {
    name,
    sql: (channels) => `select c.channel_id, x.* from ${channels} c cross join lateral (${sql}) x (${names})`,
  }
}

/**
 * A figure of each channel: as it was kept, but for the channels that have changed since, of which it is worked out.
 * So it is never stale, however the rows came to change.
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
 * Two statements that keep the figures of some channels. The second works them out: what it counts is what it saw of
 * the changes that it takes away.
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
