import { type Kysely, sql } from 'kysely'

/** What operators have been told of, so that they are told once, and once more when it is over. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.alerts (
      alert_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      cause text NOT NULL,
      facts jsonb NOT NULL,
      raised_at timestamptz NOT NULL,
      raised_sent_at timestamptz,
      cleared_at timestamptz,
      cleared_sent_at timestamptz,
      claimed_until timestamptz
    )
  `.execute(db)
  await sql`CREATE UNIQUE INDEX alerts_open ON livehouse_ops.alerts (cause) WHERE cleared_at IS NULL`.execute(db)
  await sql`CREATE INDEX alerts_unsent ON livehouse_ops.alerts (alert_id)
    WHERE (cleared_at IS NULL AND raised_sent_at IS NULL)
      OR (cleared_at IS NOT NULL AND raised_sent_at IS NOT NULL AND cleared_sent_at IS NULL)`.execute(db)
  await sql`COMMENT ON TABLE livehouse_ops.alerts IS 'What went wrong by itself and was, or is to be, sent to LIVEHOUSE_ALERT_WEBHOOK: one row from when a cause arises to when it is over'`.execute(
    db,
  )
  for (const [column, comment] of Object.entries(comments)) {
    await sql`COMMENT ON COLUMN livehouse_ops.alerts.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(db)
  }
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.alerts`.execute(db)
}

const comments = {
  alert_id: 'Number of the alert',
  cause: 'What it is about, such as run=nightly or channel=9; at most one alert of a cause is open',
  facts: 'The facts of its message; no personal data',
  raised_at: 'When the cause was first seen',
  raised_sent_at: 'When a message about it was accepted; NULL before that',
  cleared_at: 'When the cause was no longer there; NULL while it is',
  cleared_sent_at: 'When a message about that was accepted; NULL before that, and where the first one was never sent',
  claimed_until: 'A process is sending it until then; later another one may',
}
