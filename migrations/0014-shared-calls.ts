import { type Kysely, sql } from 'kysely'

/** What processes that call the same service share: the fetched token, and the pace of calls. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.access_tokens (
      auth_url text NOT NULL,
      app_id text NOT NULL,
      sealed bytea NOT NULL,
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (auth_url, app_id)
    )
  `.execute(db)
  // Worth nothing after a crash of the server, and written several times a second.
  await sql`
    CREATE UNLOGGED TABLE livehouse_ops.call_paces (
      host text NOT NULL PRIMARY KEY,
      version bigint NOT NULL,
      pace jsonb NOT NULL
    )
  `.execute(db)
  for (const [table, { about, columns }] of Object.entries(comments)) {
    const name = sql.table(`livehouse_ops.${table}`)
    await sql`COMMENT ON TABLE ${name} IS ${sql.lit(about)}`.execute(db)
    for (const [column, comment] of Object.entries(columns)) {
      await sql`COMMENT ON COLUMN ${name}.${sql.ref(column)} IS ${sql.lit(comment)}`.execute(db)
    }
  }
}

/** Both are found anew by the next run. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP TABLE livehouse_ops.call_paces`.execute(db)
  await sql`DROP TABLE livehouse_ops.access_tokens`.execute(db)
}

const comments = {
  access_tokens: {
    about: 'The access token that the processes of one application share (API 4.1)',
    columns: {
      auth_url: 'Address that handed it out',
      app_id: 'Application id',
      sealed:
        'The token with its validity, encrypted with a key derived from the application secret; one that another secret sealed counts as none',
      expires_at: 'When it ends',
    },
  },
  call_paces: {
    about:
      'How fast the processes of one database may call the service together; lost in a crash of the server, and found anew',
    columns: {
      host: 'Host of the service',
      version: 'Counts the changes, so that two processes at once do not overwrite each other',
      pace: 'The rate that has been found, what was admitted lately, and when the next call may leave',
    },
  },
}
