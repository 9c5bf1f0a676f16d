import { type Kysely, sql } from 'kysely'

/** Figures of few rows a channel that take all of its rows to work out, and which channels have changed since. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.channel_figures (
      channel_id text NOT NULL,
      figure text NOT NULL,
      day date NOT NULL,
      item text NOT NULL,
      number bigint NOT NULL,
      left_value numeric,
      right_value numeric
    )
  `.execute(db)
  await sql`CREATE INDEX channel_figures_place ON livehouse_ops.channel_figures (figure, channel_id)`.execute(db)
  await sql`CREATE TABLE livehouse_ops.changed_channels (channel_id text NOT NULL)`.execute(db)
  for (const [name, text] of Object.entries(comments))
    await sql`COMMENT ON ${sql.raw(name)} IS ${sql.lit(text)}`.execute(db)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.channel_figures, livehouse_ops.changed_channels`.execute(db)
}

const column = 'COLUMN livehouse_ops.channel_figures.'
const comments = {
  'TABLE livehouse_ops.channel_figures':
    'What all rows of a channel add up to; it holds where changed_channels does not have the channel',
  [`${column}channel_id`]: 'Channel id',
  [`${column}figure`]: 'Which figure; what the other columns are follows from it',
  [`${column}day`]: 'Day, or first day of the week or month; infinity for all time',
  [`${column}item`]: 'Which of the day: a step, a check, a kind of gift, weeks since, the month before or a viewer',
  [`${column}number`]: 'How many: viewers, or gifts and signups',
  [`${column}left_value`]: 'The first of two numbers that stand beside',
  [`${column}right_value`]: 'The second of them',
  'TABLE livehouse_ops.changed_channels':
    'Channels whose rows have changed since channel_figures was worked out, a row or more a change; triggers write it',
  'COLUMN livehouse_ops.changed_channels.channel_id': 'Channel id',
}
