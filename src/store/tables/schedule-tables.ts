import type { Generated, GeneratedAlways } from 'kysely'
import type { Instant, Json, OptionalBigInteger, OptionalInstant } from '../column-types.ts'

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
  /** Of `local_time`. */
  time_zone: string | null
}

export interface SchedulersTable {
  scheduler_id: string
  worker: string
  /** Digest by job. */
  jobs: Json
  started_at: Instant
  seen_at: Instant
}

export interface LeasesTable {
  name: string
  holder: string
  epoch: Generated<string>
  taken_at: Instant
  renewed_at: Instant
  expires_at: Instant
  wanted_until: OptionalInstant
}

export interface LocksTable {
  name: string
}

export interface AlertsTable {
  alert_id: GeneratedAlways<string>
  cause: string
  facts: Json
  raised_at: Instant
  raised_sent_at: OptionalInstant
  cleared_at: OptionalInstant
  cleared_sent_at: OptionalInstant
  claimed_until: OptionalInstant
}
