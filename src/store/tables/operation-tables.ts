import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { BigInteger, Instant, Json, OptionalBigInteger, OptionalInstant } from './ledger-tables.ts'

/** The other tables of schema `livehouse_ops`, and those of `livehouse` from which runs are planned. */
export interface OperationTables {
  'livehouse_ops.acceptances': {
    acceptance_id: GeneratedAlways<string>
    stream: string
    channel_id: string | null
    /** A `tsmultirange` as text; null for a whole list. */
    ranges: string | null
    missing_rows: BigInteger
    reason: string
    accepted_at: Instant
    expires_at: Instant
    withdrawn_at: OptionalInstant
  }
  'livehouse_ops.acceptance_uses': { acceptance_id: BigInteger; run_id: BigInteger; missing_rows: BigInteger }
  'livehouse_ops.jobs': { job: string; cron: string; time_zone: string; is_enabled: boolean; since: Instant }
  'livehouse_ops.job_runs': {
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
    /** The zone of `local_time`. */
    time_zone: string | null
  }
  'livehouse_ops.leases': {
    name: string
    holder: string
    epoch: Generated<string>
    taken_at: Instant
    renewed_at: Instant
    expires_at: Instant
    wanted_until: OptionalInstant
    for_run: OptionalBigInteger
  }
  'livehouse_ops.locks': { name: string }
  'livehouse_ops.alerts': {
    alert_id: GeneratedAlways<string>
    cause: string
    facts: Json
    raised_at: Instant
    raised_sent_at: OptionalInstant
    cleared_at: OptionalInstant
    cleared_sent_at: OptionalInstant
    claimed_until: OptionalInstant
  }
  'livehouse_ops.call_budget': {
    scope: string
    service_day: string
    calls: number
    first_call_at: Instant
    last_call_at: Instant
    spent_at: OptionalInstant
  }
  'livehouse_ops.access_tokens': { auth_url: string; app_id: string; sealed: Buffer; expires_at: Instant }
  'livehouse_ops.call_paces': { host: string; version: BigInteger; pace: Json }
  'livehouse_ops.source_facts': {
    topic: string
    subject: string
    answer: string | null
    evidence: string
    found_at: Instant
    run_id: BigInteger
  }
  'livehouse_ops.unlisted_questionnaires': { partition: string; run_id: BigInteger; found_at: Instant }
  'livehouse_ops.published_forms': { channel_id: string; question_id: string; view_name: string }
  'livehouse_ops.cleared_questions': { channel_id: string; question_id: string; question_no: number; question: string }
  'livehouse_ops.migrations': { name: string; timestamp: string }
  'livehouse.channels': {
    channel_id: string
    name: string | null
    admin_id: OptionalBigInteger
    label: string | null
    channel_group: string | null
    is_test: Generated<boolean>
    state: Generated<'active' | 'retired' | 'gone'>
    read_until: Generated<string | null>
    run_id: BigInteger
    changed_at: ColumnType<Date, Date | undefined, Date>
  }
  /** The columns from which other streams are planned. */
  'livehouse.questionnaires': { channel_id: string; question_id: string }
}
