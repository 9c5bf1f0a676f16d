import { type Kysely, sql } from 'kysely'

/** The two schemas, and what livehouse knows about its own work. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** The schemas stay: the list of migrations lives in one, and a DBA may have made both. */
export async function down(db: Kysely<unknown>): Promise<void> {
  for (const table of ['quarantine', 'slices', 'runs', 'source']) {
    await sql`drop table ${sql.id('livehouse_ops', table)}`.execute(db)
  }
}

/** `create schema if not exists` asks for the right to create one even where it exists; only its owner may comment on it. */
function createSchema(name: string, comment: string): string {
  return `do $$ begin
  if to_regnamespace('${name}') is null then create schema ${name}; end if;
  if (select pg_has_role(nspowner, 'usage') from pg_namespace where nspname = '${name}') then
    comment on schema ${name} is '${comment}';
  end if;
end $$`
}

/** A table with the comments of itself and of each column: `[name, definition, comment]`. */
function createTable(
  name: string,
  comment: string,
  columns: readonly (readonly [string, string, string])[],
  constraints: readonly string[] = [],
): readonly string[] {
  const lines = [...columns.map(([column, definition]) => `${column} ${definition}`), ...constraints]
  return [
    `create table ${name} (\n  ${lines.join(',\n  ')}\n)`,
    `comment on table ${name} is '${comment}'`,
    ...columns.map(([column, , text]) => `comment on column ${name}.${column} is '${text}'`),
  ]
}

const statements: readonly string[] = [
  createSchema('livehouse', 'The records of one live-streaming account, typed; written by livehouse'),
  createSchema('livehouse_ops', 'The operational state of livehouse: runs, coverage, quarantine; not for analysts'),
  `comment on table livehouse_ops.migrations is 'The migrations that this database has had, in their order'`,
  `comment on column livehouse_ops.migrations.name is 'File name of the migration, without its ending'`,
  `comment on column livehouse_ops.migrations.timestamp is 'When it was applied (ISO 8601, UTC)'`,
  `comment on table livehouse_ops.migration_lock is 'Kept for the migration library; the lock itself is an advisory one'`,
  `comment on column livehouse_ops.migration_lock.id is 'Name of the lock'`,
  `comment on column livehouse_ops.migration_lock.is_locked is 'Unused'`,

  ...createTable('livehouse_ops.source', 'Whose records this database holds: one row, written by the first run', [
    ['base_url', 'text not null', 'Address of the service, without a trailing slash'],
    ['app_id', 'text', 'Application id; NULL while only a fixed token has been used'],
    ['time_zone', 'text not null', 'IANA zone of the times that the service gives, and of its day'],
    ['remembered_at', 'timestamptz not null default now()', 'When the first run claimed this database'],
  ]),
  'create unique index source_single on livehouse_ops.source ((true))',

  ...createTable('livehouse_ops.runs', 'One row a command that reads from the service', [
    [
      'run_id',
      'bigint generated always as identity primary key',
      'Number of the run; run_id of every row that it changed',
    ],
    ['command', 'text not null', 'The command as it was called, without secrets'],
    [
      'status',
      `text not null check (status in ('running', 'ok', 'partial', 'waiting', 'failed'))`,
      'running, or how it ended: ok, partial, waiting or failed; running without a living process is a killed run',
    ],
    ['settings', 'jsonb not null', 'The settings that it ran with, without secrets'],
    ['started_at', 'timestamptz not null', 'When it began'],
    ['finished_at', 'timestamptz', 'When it ended; NULL while it runs, and for ever when it was killed'],
    ['resumes_at', 'timestamptz', 'When work that waits can go on (status waiting)'],
    ['outcome', 'jsonb', 'What it did, as the JSON output of the command'],
  ]),

  ...createTable(
    'livehouse_ops.slices',
    'The ledger: one row a piece of extraction. The union of landed ranges is what has been covered',
    [
      ['slice_id', 'bigint generated always as identity primary key', 'Number of the slice'],
      ['run_id', 'bigint not null references livehouse_ops.runs', 'The run that read it'],
      ['stream', 'text not null', 'Name of the stream, such as watch_records'],
      [
        'partition',
        'text not null',
        'What part of the stream: channel=9, channel=9/type=cash, channel=9/question=ab, account',
      ],
      [
        'covers',
        'tsrange check (lower_inc(covers) and not upper_inc(covers))',
        'Half-open range of the wall clock of the service, in whole minutes; NULL for a walk over a whole list',
      ],
      [
        'status',
        `text not null check (status in ('landed', 'failed'))`,
        'landed: all its rows are committed; failed: it did not get to its end',
      ],
      [
        'proof',
        `text not null check (proof in ('verified', 'unverifiable', 'moving', 'short', 'accepted', 'failed'))`,
        'How complete it is known to be: verified, unverifiable, moving, short, accepted or failed',
      ],
      [
        'first_total',
        'bigint',
        'Total that the first answer named; NULL where the service gives none, as for the next three',
      ],
      ['last_total', 'bigint', 'Total that the last answer named'],
      ['smallest_total', 'bigint', 'Smallest total that any answer named'],
      ['largest_total', 'bigint', 'Largest total that any answer named'],
      ['distinct_rows', 'bigint not null', 'Distinct rows received, before those outside the range were cut off'],
      ['quarantined_rows', 'bigint not null', 'Rows received that could not be read'],
      ['calls', 'bigint not null', 'Calls made, repeated ones included'],
      ['retries', 'bigint not null', 'Of these, repeated ones'],
      ['error', 'text', 'Why it failed; NULL when it landed'],
      ['started_at', 'timestamptz not null', 'When its first call was made'],
      ['finished_at', 'timestamptz not null', 'When it landed or failed'],
    ],
  ),
  'create index slices_stream_partition on livehouse_ops.slices (stream, partition)',
  'create index slices_run on livehouse_ops.slices (run_id)',

  ...createTable(
    'livehouse_ops.quarantine',
    'Received items that could not become rows; none is ever dropped',
    [
      ['stream', 'text not null', 'Name of the stream'],
      ['partition', 'text not null', 'Part of the stream, as in slices'],
      ['item_hash', 'text not null', 'Hash of the item as it was received'],
      ['ordinal', 'integer not null', 'From 1, among equal items of one slice'],
      ['raw', 'text not null', 'The item as JSON text'],
      ['reason', 'text not null', 'Why it could not be read, with the value that shows it'],
      ['path', 'text not null', 'Where in the item, such as user_id; empty for the item itself'],
      ['slice_id', 'bigint references livehouse_ops.slices on delete set null', 'The last slice that received it'],
      ['run_id', 'bigint not null references livehouse_ops.runs', 'The last run that received it'],
      ['first_seen_at', 'timestamptz not null', 'When it was first received'],
      ['last_seen_at', 'timestamptz not null', 'When it was last received'],
      ['resolved_at', 'timestamptz', 'When a later reading turned it into a row'],
    ],
    ['primary key (stream, partition, item_hash, ordinal)'],
  ),
  'create index quarantine_slice on livehouse_ops.quarantine (slice_id)',
  'create index quarantine_run on livehouse_ops.quarantine (run_id)',
]
