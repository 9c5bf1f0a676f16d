import { type Kysely, sql } from 'kysely'

/** Scheduled jobs, their runs and who serves them; walks that stand in for one that was not made. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE livehouse_ops.jobs (
      job text NOT NULL PRIMARY KEY,
      cron text NOT NULL,
      time_zone text NOT NULL,
      is_enabled boolean NOT NULL,
      since timestamptz NOT NULL,
      seen_at timestamptz NOT NULL
    )
  `.execute(db)
  await sql`
    CREATE TABLE livehouse_ops.job_runs (
      job_run_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      job text NOT NULL,
      local_time timestamp,
      is_repeat boolean NOT NULL,
      due_at timestamptz,
      status text NOT NULL CHECK (status IN ('running', 'interrupted', 'ended', 'skipped')),
      outcome text CHECK (outcome IN ('ok', 'partial', 'waiting', 'failed')),
      attempts integer NOT NULL,
      worker text NOT NULL,
      run_id bigint,
      error text,
      started_at timestamptz NOT NULL,
      finished_at timestamptz,
      UNIQUE (job, local_time, is_repeat)
    )
  `.execute(db)
  await sql`CREATE INDEX job_runs_job ON livehouse_ops.job_runs (job, started_at)`.execute(db)
  await sql`CREATE INDEX job_runs_due ON livehouse_ops.job_runs (job, due_at)`.execute(db)
  await sql`
    CREATE TABLE livehouse_ops.schedulers (
      scheduler_id text NOT NULL PRIMARY KEY,
      worker text NOT NULL,
      jobs jsonb NOT NULL,
      started_at timestamptz NOT NULL,
      seen_at timestamptz NOT NULL
    )
  `.execute(db)
  await sql`
    CREATE TABLE livehouse_ops.walk_marks (
      stream text NOT NULL,
      partition text NOT NULL,
      total bigint NOT NULL,
      first_page text NOT NULL,
      walked_at timestamptz NOT NULL,
      run_id bigint NOT NULL,
      PRIMARY KEY (stream, partition)
    )
  `.execute(db)
  for (const column of ['status', 'proof']) await allow(db, column)
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

export async function down(db: Kysely<unknown>): Promise<void> {
  await sql`DELETE FROM livehouse_ops.slices WHERE status = 'assumed'`.execute(db)
  for (const column of ['status', 'proof']) await forbid(db, column)
  for (const table of ['walk_marks', 'schedulers', 'job_runs', 'jobs']) {
    await sql`DROP TABLE ${sql.table(`livehouse_ops.${table}`)}`.execute(db)
  }
}

/** Adds a word to those that a column of the ledger may hold. */
async function allow(db: Kysely<unknown>, column: string): Promise<void> {
  await changeCheck(db, column, sql`replace(pg_get_constraintdef(oid), 'ARRAY[', 'ARRAY[''assumed''::text, ')`)
}

async function forbid(db: Kysely<unknown>, column: string): Promise<void> {
  await changeCheck(db, column, sql`replace(pg_get_constraintdef(oid), '''assumed''::text, ', '')`)
}

/** The words that are there stay, whichever they are. */
async function changeCheck(
  db: Kysely<unknown>,
  column: string,
  definition: ReturnType<typeof sql<string>>,
): Promise<void> {
  const name = `slices_${column}_check`
  await sql`DO $$ DECLARE definition text := (
      SELECT ${definition} FROM pg_constraint
      WHERE conrelid = 'livehouse_ops.slices'::regclass AND conname = ${sql.lit(name)});
    BEGIN
      ALTER TABLE livehouse_ops.slices DROP CONSTRAINT ${sql.id(name)};
      EXECUTE 'ALTER TABLE livehouse_ops.slices ADD CONSTRAINT ${sql.raw(name)} ' || definition;
    END $$`.execute(db)
}

const tables = {
  jobs: 'The jobs that livehouse serve has found, one row a job file',
  job_runs: 'Runs of jobs: one row for each time at which a job was due, and one for each run by hand',
  schedulers: 'The processes of livehouse serve that share this database',
  walk_marks: 'What the last verified walk over a whole list began with: a list that still begins so may be left out',
}

const comments = {
  slices: {
    status:
      'landed: all its rows are committed; moving: the list moved, it is read again; failed: it did not get to its end; forgotten: an operator wants it read again; assumed: not read, since it began as at its last verified walk',
    proof:
      'How complete it is known to be: verified, unverifiable, moving, short, accepted or failed; assumed where it was not read at all',
  },
  jobs: {
    job: 'Name of the job: that of its file',
    cron: 'When it is due, in cron notation',
    time_zone: 'IANA zone of these times',
    is_enabled: 'Whether livehouse serve runs it',
    since: 'From when on it is due by this schedule; what lies before is not caught up',
    seen_at: 'When a livehouse serve last started with it',
  },
  job_runs: {
    job_run_id: 'Number of the run of the job',
    job: 'Name of the job',
    local_time: 'The time at which it was due, on the wall clock of its zone; NULL for a run by hand',
    is_repeat: 'Whether it is the second time that the clock showed this, when clocks were put back',
    due_at: 'The same as an instant; NULL for a run by hand',
    status:
      'running, also where its process was killed; interrupted: taken up again by the next livehouse serve; ended; skipped: missed, and not to be caught up, or given up for a later one',
    outcome: 'How it ended: ok, partial, waiting or failed; NULL before that',
    attempts: 'How many times it was begun',
    worker: 'Host and process that last ran it',
    run_id: 'The run in livehouse_ops.runs; NULL where none was begun',
    error: 'Why it failed or was skipped; NULL where it did not',
    started_at: 'When it was begun, the last time',
    finished_at: 'When it ended; NULL before that',
  },
  schedulers: {
    scheduler_id: 'Made up anew by each process',
    worker: 'Host and process',
    jobs: 'Digest of each of its jobs by name: processes with other jobs are told of each other',
    started_at: 'When it began',
    seen_at: 'When it last said that it is there; it does so every half minute',
  },
  walk_marks: {
    stream: 'Name of the stream',
    partition: 'Part of the stream, as in slices',
    total: 'Total that the source named',
    first_page: 'Hash of the first page',
    walked_at: 'When the walk began',
    run_id: 'The run that made it',
  },
}
