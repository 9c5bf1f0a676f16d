import { type Kysely, sql } from 'kysely'

/** An alert whose receiver may have taken it without saying so is told to be over as well. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await indexUnsent(db, sql`(raised_sent_at IS NOT NULL OR claimed_until IS NOT NULL)`)
  await comment(db, comments)
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await indexUnsent(db, sql`raised_sent_at IS NOT NULL`)
  await comment(db, commentsBefore)
}

async function indexUnsent(db: Kysely<unknown>, isTold: ReturnType<typeof sql>): Promise<void> {
  await sql`DROP INDEX livehouse_ops.alerts_unsent`.execute(db)
  await sql`CREATE INDEX alerts_unsent ON livehouse_ops.alerts (alert_id)
    WHERE (cleared_at IS NULL AND raised_sent_at IS NULL)
      OR (cleared_at IS NOT NULL AND ${isTold} AND cleared_sent_at IS NULL)`.execute(db)
}

type Comments = Readonly<Record<string, string>>

async function comment(db: Kysely<unknown>, columns: Comments): Promise<void> {
  for (const [column, text] of Object.entries(columns)) {
    const name = sql.ref(`livehouse_ops.alerts.${column}`)
    await sql`COMMENT ON COLUMN ${name} IS ${sql.lit(text)}`.execute(db)
  }
}

const comments: Comments = {
  cleared_sent_at:
    'When a message about that was accepted; NULL before that, and where the first one certainly never went out',
  claimed_until:
    'A process is sending it until then; later another one may. Stays where the receiver may have taken it without saying so',
}

const commentsBefore: Comments = {
  cleared_sent_at: 'When a message about that was accepted; NULL before that, and where the first one was never sent',
  claimed_until: 'A process is sending it until then; later another one may',
}
