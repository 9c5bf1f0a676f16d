import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { AcceptancesTable, AcceptanceUsesTable } from './acceptance-tables.ts'
import type { BigInteger, OptionalBigInteger, Instant, OptionalInstant, Json, OptionalJson } from './column-types.ts'

/**
 * Every table of the warehouse, by its qualified name. `bigint` and `numeric` are exact decimal text, `timestamptz` is a
 * `Date`; `date`, `timestamp` and ranges stay the text of Postgres (see `pg-types.ts`).
 */
export interface Database {
  'livehouse.channels': ChannelsTable
  'livehouse.questionnaires': QuestionnairesTable
  'livehouse_ops.source': SourceTable
  'livehouse_ops.runs': RunsTable
  'livehouse_ops.slices': SlicesTable
  'livehouse_ops.quarantine': QuarantineTable
  'livehouse_ops.backfills': BackfillsTable
  'livehouse_ops.headers': HeadersTable
  'livehouse_ops.source_facts': SourceFactsTable
  'livehouse_ops.missed_rows': MissedRowsTable
  'livehouse_ops.unknown_fields': UnknownFieldsTable
  'livehouse_ops.channel_states': ChannelStatesTable
  'livehouse_ops.call_budget': CallBudgetTable
  'livehouse_ops.open_slices': OpenSlicesTable
  'livehouse_ops.access_tokens': AccessTokensTable
  'livehouse_ops.jobs': JobsTable
  'livehouse_ops.job_runs': JobRunsTable
  'livehouse_ops.schedulers': SchedulersTable
  'livehouse_ops.walk_marks': WalkMarksTable
  'livehouse_ops.acceptances': AcceptancesTable
  'livehouse_ops.acceptance_uses': AcceptanceUsesTable
}

export interface ChannelsTable {
  channel_id: string
  name: string | null
  admin_id: OptionalBigInteger
  label: string | null
  channel_group: string | null
  is_test: Generated<boolean>
  state: Generated<'active' | 'retired' | 'gone'>
  extra: OptionalJson
  run_id: BigInteger
  inserted_at: Generated<Date>
  changed_at: ColumnType<Date, Date | undefined, Date>
}

/** The columns that other streams are planned by. */
export interface QuestionnairesTable {
  channel_id: string
  question_id: string
}

/** At most one row: whose records this database holds. */
export interface SourceTable {
  base_url: string
  app_id: string | null
  time_zone: string
  remembered_at: Generated<Date>
}

export interface RunsTable {
  run_id: GeneratedAlways<string>
  command: string
  /** `running`, or how it ended. */
  status: 'running' | 'ok' | 'partial' | 'waiting' | 'failed'
  settings: Json
  started_at: Instant
  finished_at: OptionalInstant
  resumes_at: OptionalInstant
  outcome: OptionalJson
}

export interface SlicesTable {
  slice_id: GeneratedAlways<string>
  run_id: BigInteger
  stream: string
  partition: string
  /** A `tsrange` as text, `[2026-11-20 14:03:00,2026-11-20 15:00:00)`; null for a snapshot walk. */
  covers: string | null
  /** As `covers`: what was read. */
  reads: string | null
  /** As `covers`: the part of it whose rows no longer changed. */
  settled: ColumnType<string | null, string | null | undefined, string | null>
  backfill_id: OptionalBigInteger
  status: 'landed' | 'moving' | 'failed' | 'forgotten' | 'assumed'
  proof: string
  first_total: OptionalBigInteger
  last_total: OptionalBigInteger
  smallest_total: OptionalBigInteger
  largest_total: OptionalBigInteger
  distinct_rows: BigInteger
  quarantined_rows: BigInteger
  calls: BigInteger
  retries: BigInteger
  is_drop: Generated<boolean>
  missing_rows: OptionalBigInteger
  acceptance_id: OptionalBigInteger
  error: string | null
  started_at: Instant
  finished_at: Instant
}

export interface QuarantineTable {
  stream: string
  partition: string
  item_hash: string
  ordinal: number
  raw: string
  reason: string
  path: string
  headers: string | null
  slice_id: OptionalBigInteger
  run_id: BigInteger
  first_seen_at: Instant
  last_seen_at: Instant
  resolved_at: OptionalInstant
}

export interface MissedRowsTable {
  stream: string
  partition: string
  row_key: string
  missed_at: Instant
  run_id: BigInteger
}

export interface UnknownFieldsTable {
  stream: string
  field: string
  first_seen_at: Instant
  run_id: BigInteger
}

/** Channels that the service did not know in the last run that asked for them. */
export interface ChannelStatesTable {
  channel_id: string
  unknown_runs: number
  run_id: BigInteger
}

export interface BackfillsTable {
  backfill_id: GeneratedAlways<string>
  arguments: Json
  status: 'open' | 'finished' | 'abandoned'
  started_at: Instant
  finished_at: OptionalInstant
}

/** A row a scope and day of the service. */
export interface CallBudgetTable {
  scope: string
  service_day: string
  calls: number
  first_call_at: Instant
  last_call_at: Instant
  spent_at: OptionalInstant
}

/** Slices that are read over several days; at most one a partition. */
export interface OpenSlicesTable {
  stream: string
  partition: string
  /** As in `SlicesTable`. */
  reads: string
  covers: string | null
  backfill_id: OptionalBigInteger
  pages_read: number
  page_size: number
  keys: string[]
  last_page_keys: string[]
  received_rows: BigInteger
  found_rows: BigInteger
  quarantined_rows: BigInteger
  calls: BigInteger
  retries: BigInteger
  moved: string | null
  run_id: BigInteger
  started_at: Instant
  read_at: Instant
}

export interface HeadersTable {
  partition: string
  title: Json
  seen_at: Instant
  run_id: BigInteger
}

export interface JobsTable {
  job: string
  cron: string
  time_zone: string
  is_enabled: boolean
  since: Instant
  seen_at: Instant
}

export interface JobRunsTable {
  job_run_id: GeneratedAlways<string>
  job: string
  /** Wall clock of the job's zone, `2026-11-20 02:15:00`; null for a run by hand. */
  local_time: string | null
  is_repeat: boolean
  due_at: OptionalInstant
  status: 'running' | 'interrupted' | 'ended' | 'skipped'
  outcome: 'ok' | 'partial' | 'waiting' | 'failed' | null
  attempts: number
  worker: string
  run_id: OptionalBigInteger
  error: string | null
  started_at: Instant
  finished_at: OptionalInstant
}

export interface SchedulersTable {
  scheduler_id: string
  worker: string
  /** Digest by job. */
  jobs: Json
  started_at: Instant
  seen_at: Instant
}

export interface WalkMarksTable {
  stream: string
  partition: string
  total: BigInteger
  first_page: string
  walked_at: Instant
  run_id: BigInteger
}

export interface AccessTokensTable {
  auth_url: string
  app_id: string
  sealed: Buffer
  expires_at: Instant
}

/** What a probe found out about the service. */
export interface SourceFactsTable {
  topic: string
  subject: string
  answer: string | null
  evidence: string
  found_at: Instant
  run_id: BigInteger
}
