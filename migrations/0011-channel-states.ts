import { type Kysely, sql } from 'kysely'

/** Channels that the service does not know, counted from run to run; the headers over quarantined cells. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.channel_states (
      channel_id text NOT NULL PRIMARY KEY,
      unknown_runs integer NOT NULL CHECK (unknown_runs > 0),
      run_id bigint NOT NULL
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse_ops.channel_states IS 'Channels that the service did not know in the last run that asked for them; a channel that answered has no row'`.execute(
    db,
  )
  for (const [column, comment] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN livehouse_ops.channel_states.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(db)
  }
  await sql`ALTER TABLE livehouse_ops.quarantine ADD COLUMN headers text`.execute(db)
  await sql`COMMENT ON COLUMN livehouse_ops.quarantine.headers IS 'The column headers over the item as JSON text (API 4.11); NULL where there are none'`.execute(
    db,
  )
  await sql`COMMENT ON COLUMN livehouse_ops.quarantine.last_seen_at IS 'When it was last received, to the day: it moves at most once a day of the service'`.execute(
    db,
  )
  await sql`COMMENT ON COLUMN livehouse_ops.quarantine.resolved_at IS 'When it became a row, or a proven reading of its whole list no longer brought it; NULL while it is unreadable, and again when it comes back'`.execute(
    db,
  )
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`COMMENT ON COLUMN livehouse_ops.quarantine.resolved_at IS 'When a later reading turned it into a row'`.execute(
    db,
  )
  await sql`COMMENT ON COLUMN livehouse_ops.quarantine.last_seen_at IS 'When it was last received'`.execute(db)
  await sql`ALTER TABLE livehouse_ops.quarantine DROP COLUMN headers`.execute(db)
  await sql`DROP TABLE livehouse_ops.channel_states`.execute(db)
}

const comments = {
  channel_id: 'Channel id',
  unknown_runs: 'Runs in a row that were told that the channel does not exist; from the third on it is gone',
  run_id: 'The last of these runs',
}
