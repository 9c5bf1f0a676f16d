import { type Kysely, sql } from 'kysely'

/** A job says when it was last served: no process of `livehouse serve` is written down beside it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.schedulers`.execute(db)
  await commentOnSeen(db, 'When a livehouse serve last said that it serves it; it does so every half minute')
}

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.schedulers (
      scheduler_id text NOT NULL PRIMARY KEY,
      worker text NOT NULL,
      jobs jsonb NOT NULL,
      started_at timestamptz NOT NULL,
      seen_at timestamptz NOT NULL
    )
  `.execute(db)
  await sql`COMMENT ON TABLE livehouse_ops.schedulers IS
    'The processes of livehouse serve that share this database'`.execute(db)
  for (const [column, words] of Object.entries(columns)) {
    await sql`COMMENT ON COLUMN livehouse_ops.schedulers.${sql.id(column)} IS ${sql.lit(words)}`.execute(db)
  }
  await commentOnSeen(db, 'When a livehouse serve last started with it')
}

const columns = {
  scheduler_id: 'Made up anew by each process',
  worker: 'Host and process',
  jobs: 'Digest of each of its jobs by name: processes with other jobs are told of each other',
  started_at: 'When it began',
  seen_at: 'When it last said that it is there; it does so every half minute',
}

async function commentOnSeen(db: Kysely<unknown>, words: string): Promise<void> {
  await sql`COMMENT ON COLUMN livehouse_ops.jobs.seen_at IS ${sql.lit(words)}`.execute(db)
}
