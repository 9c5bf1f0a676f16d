import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { Proof } from '../../core/slice.ts'

/** Read as decimal text; small counts may be written as numbers. */
export type BigInteger = ColumnType<string, string | number | bigint, string | number | bigint>
export type OptionalBigInteger = ColumnType<
  string | null,
  string | number | bigint | null | undefined,
  string | number | bigint | null
>
export type Instant = ColumnType<Date, Date | string, Date | string>
export type OptionalInstant = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
/** Written as JSON text. */
export type Json = ColumnType<unknown, string, string>
type OptionalJson = ColumnType<unknown, string | null | undefined, string | null>
type OptionalText = ColumnType<string | null, string | null | undefined, string | null>

/** The tables of schema `livehouse_ops` that record what was read, and with which result. */
export interface LedgerTables {
  'livehouse_ops.source': { base_url: string; app_id: string | null; time_zone: string }
  'livehouse_ops.runs': {
    run_id: GeneratedAlways<string>
    command: string
    status: 'running' | 'ok' | 'partial' | 'waiting' | 'failed' | 'interrupted'
    settings: Json
    started_at: Instant
    finished_at: OptionalInstant
    resumes_at: OptionalInstant
    outcome: OptionalJson
    progress: ColumnType<unknown, string | undefined, string>
  }
  'livehouse_ops.slices': {
    slice_id: GeneratedAlways<string>
    run_id: BigInteger
    stream: string
    partition: string
    /** A `tsrange` as text, `[2026-11-20 14:03:00,2026-11-20 15:00:00)`; null for a whole list. */
    covers: string | null
    /** The range that was read, as in `covers`. */
    reads: string | null
    /** The part of `covers` that is not read again. */
    settled: OptionalText
    backfill_id: OptionalBigInteger
    status: 'landed' | 'moving' | 'failed' | 'forgotten'
    proof: Proof
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
    lookback_days: ColumnType<number | null, number | null | undefined, number | null>
    page_size: ColumnType<number | null, number | null | undefined, number | null>
    piece_of: OptionalBigInteger
    error: string | null
    started_at: Instant
    finished_at: Instant
  }
  /** A view of the present state of each partition; the columns that are read with the builder. */
  'livehouse_ops.latest_readings': {
    stream: string
    partition: string
    /** Null for the account. */
    channel_id: string | null
    is_active: boolean
    /** A `tsmultirange` as text. */
    covers: string
    walked_at: Date | null
    landed_at: Date | null
    landed_proof: Proof | null
    latest_at: Date
  }
  /** A view of what is missing or not proven at present. */
  'livehouse_ops.open_readings': {
    kind: 'gap' | 'problem' | 'accepted'
    stream: string
    partition: string
    channel_id: string | null
    is_active: boolean
    /** As in `slices`; null for a whole list. */
    reads: string | null
    /** Null for a gap. */
    slice_id: string | null
    proof: Proof | null
    error: string | null
    read_at: Date | null
    missing_rows: string | null
    acceptance_id: string | null
  }
  'livehouse_ops.quarantine': {
    stream: string
    partition: string
    item_hash: string
    ordinal: number
    raw: string
    reason: string
    path: string
    headers: string | null
    run_id: BigInteger
    first_seen_at: Instant
    last_seen_at: Instant
    /** A `tsmultirange` as text; null for whole lists. */
    lies_in: OptionalText
    resolved_at: OptionalInstant
  }
  'livehouse_ops.missed_rows': { stream: string; partition: string; missed_at: Instant }
  'livehouse_ops.unknown_fields': { stream: string; field: string; first_seen_at: Instant; run_id: BigInteger }
  'livehouse_ops.known_fields': {
    stream: string
    partition: string
    field: string
    missing_since: OptionalInstant
    accepted_at: OptionalInstant
    reason: OptionalText
  }
  'livehouse_ops.reopened_ranges': {
    stream: string
    partition: string
    /** As in `slices`. */
    range: string
    reopened_at: Instant
  }
  'livehouse_ops.channel_states': {
    channel_id: string
    unknown_days: number
    last_unknown_on: string
    run_id: BigInteger
  }
  'livehouse_ops.backfills': {
    backfill_id: GeneratedAlways<string>
    arguments: Json
    status: 'open' | 'finished' | 'abandoned'
    started_at: Instant
    finished_at: OptionalInstant
  }
  'livehouse_ops.headers': { partition: string; title: Json; seen_at: Instant; run_id: BigInteger }
  'livehouse_ops.open_slices': {
    stream: string
    partition: string
    /** As in `slices`. */
    reads: string
    covers: string | null
    backfill_id: OptionalBigInteger
    pages_read: number
    page_size: number
    keys: string[]
    last_page_keys: string[]
    found_rows: BigInteger
    quarantined_rows: BigInteger
    calls: BigInteger
    retries: BigInteger
    run_id: BigInteger
    started_at: Instant
    read_at: Instant
    refused_since: OptionalInstant
    refused_page: number | null
  }
}
