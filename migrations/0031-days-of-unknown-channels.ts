import { type Kysely, sql } from 'kysely'

/** Channels that the service does not know are counted by days: several runs of one bad minute say no more than one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Runs were counted: what has not led to anything begins anew.
  await sql`DELETE FROM livehouse_ops.channel_states WHERE unknown_runs < 3`.execute(db)
  await sql`ALTER TABLE livehouse_ops.channel_states RENAME COLUMN unknown_runs TO unknown_days`.execute(db)
  await sql`ALTER TABLE livehouse_ops.channel_states ADD COLUMN last_unknown_on date NOT NULL DEFAULT '1970-01-01'`.execute(
    db,
  )
  await sql`ALTER TABLE livehouse_ops.channel_states ALTER COLUMN last_unknown_on DROP DEFAULT`.execute(db)
  await comment(db, {
    unknown_days:
      'Days of the service on which it did not know the channel, without an answer in between; from the third on it is gone',
    last_unknown_on: 'The last of these days; a channel that is gone is asked for once a day',
    run_id: 'The last run that was told so',
  })
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE livehouse_ops.channel_states DROP COLUMN last_unknown_on`.execute(db)
  await sql`ALTER TABLE livehouse_ops.channel_states RENAME COLUMN unknown_days TO unknown_runs`.execute(db)
  await comment(db, {
    unknown_runs: 'Runs in a row that were told that the channel does not exist; from the third on it is gone',
    run_id: 'The last of these runs',
  })
}

async function comment(db: Kysely<unknown>, comments: Readonly<Record<string, string>>): Promise<void> {
  for (const [column, text] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN livehouse_ops.channel_states.${sql.ref(column)} IS ${sql.lit(text)}`.execute(db)
  }
}
