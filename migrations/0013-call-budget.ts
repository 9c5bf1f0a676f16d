import { type Kysely, sql } from 'kysely'

/** The calls of version 1 of the watch records (API 4.6): how many of a service day are taken, and readings that take days. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.call_budget (
      scope text NOT NULL,
      service_day date NOT NULL,
      calls integer NOT NULL CHECK (calls >= 0),
      first_call_at timestamptz NOT NULL,
      last_call_at timestamptz NOT NULL,
      spent_at timestamptz,
      PRIMARY KEY (scope, service_day)
    )
  `.execute(db)
  await sql`
    CREATE TABLE livehouse_ops.open_slices (
      stream text NOT NULL,
      partition text NOT NULL,
      reads tsrange NOT NULL CHECK (lower_inc(reads) AND NOT upper_inc(reads)),
      covers tsrange CHECK (lower_inc(covers) AND NOT upper_inc(covers)),
      backfill_id bigint,
      pages_read integer NOT NULL CHECK (pages_read > 0),
      page_size integer NOT NULL CHECK (page_size > 0),
      keys text[] NOT NULL,
      last_page_keys text[] NOT NULL,
      received_rows bigint NOT NULL,
      found_rows bigint NOT NULL,
      quarantined_rows bigint NOT NULL,
      calls bigint NOT NULL,
      retries bigint NOT NULL,
      moved text,
      run_id bigint NOT NULL,
      started_at timestamptz NOT NULL,
      read_at timestamptz NOT NULL,
      PRIMARY KEY (stream, partition)
    )
  `.execute(db)
  // Few rows or none: what version 1 alone has delivered. Version 2 looks here before it takes rows over.
  await sql`CREATE INDEX watch_records_version_1 ON livehouse.watch_records (channel_id, record_id)
    WHERE api_version = 1`.execute(db)
  for (const [table, comment] of Object.entries(tables)) {
    await sql`COMMENT ON TABLE ${sql.table(`livehouse_ops.${table}`)} IS ${sql.lit(comment)}`.execute(db)
  }
  for (const [table, columns] of Object.entries(comments)) {
    for (const [column, comment] of Object.entries(columns)) {
      const name = sql`${sql.table(`livehouse_ops.${table}`)}.${sql.ref(column)}`
      await sql`COMMENT ON COLUMN ${name} IS ${sql.lit(comment)}`.execute(db)
    }
  }
}

/** Without its rows a day's calls could be taken again: nothing must ask version 1 between this and the day after. */
export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DROP INDEX livehouse.watch_records_version_1`.execute(db)
  await sql`DROP TABLE livehouse_ops.open_slices`.execute(db)
  await sql`DROP TABLE livehouse_ops.call_budget`.execute(db)
}

const tables = {
  call_budget:
    'Calls taken of the few that the service allows in a day (API 4.6); each is taken before it is made, so that no crash can overspend',
  open_slices:
    'Slices that are read over several days, page by page: each page is committed with how far the reading has come',
}

const comments = {
  call_budget: {
    scope: 'Whom the calls belong to: account, or a channel (channel=9)',
    service_day: 'The day of the service, by its own clock',
    calls: 'Calls taken on that day, made or not; never given back',
    first_call_at: 'When the first was taken, by the clock of the service',
    last_call_at: 'When the last was taken, by the clock of the service',
    spent_at: 'When the service refused a further call; NULL while it has not. Nothing is taken of such a day any more',
  },
  open_slices: {
    stream: 'Name of the stream',
    partition: 'Part of the stream, as in slices; at most one slice of it is open',
    reads: 'The range of the wall clock of the service that it reads, half-open',
    covers: 'What of it will count as covered; NULL for nothing',
    backfill_id: 'The backfill that it belongs to (livehouse_ops.backfills)',
    pages_read: 'Pages whose rows are committed',
    page_size: 'Items of a full page, as the service serves them',
    keys: 'Keys of the rows that came so far: one that comes again shows that the list has moved',
    last_page_keys: 'Keys of the last page, in its order',
    received_rows: 'Items that came so far',
    found_rows: 'Of these, rows inside the range',
    quarantined_rows: 'Of these, items that went to quarantine',
    calls: 'Calls made so far, repeated ones included',
    retries: 'Of these, repeated ones',
    moved: 'What showed that the list moved while it was read; NULL where nothing has',
    run_id: 'The run that read the last page',
    started_at: 'When the first page was asked for',
    read_at: 'When the last page was committed',
  },
}
