import { type RawBuilder, sql } from 'kysely'

const READ_AT = new Date('2024-06-03T00:00:00Z')
const EXPIRES_AT = new Date('2024-09-03T00:00:00Z')

/** An old row of a table of `livehouse_ops` that names a run. */
export function referToRun(table: string, runId: string): RawBuilder<unknown> {
  const insertion = insertions[table]
  if (insertion === undefined) throw new Error(`say here how a row of ${table} is made`)
  return insertion(runId)
}

const insertions: Readonly<Record<string, (runId: string) => RawBuilder<unknown>>> = {
  slices: (runId) => sql`
    insert into livehouse_ops.slices (run_id, stream, partition, status, proof, distinct_rows, quarantined_rows, calls, retries,
      started_at, finished_at) values (${runId}, 'gifts', 'a', 'landed', 'verified', 0, 0, 0, 0, ${READ_AT}, ${READ_AT})`,
  quarantine: (runId) => sql`
    insert into livehouse_ops.quarantine (stream, partition, item_hash, ordinal, raw, reason, path, run_id, first_seen_at, last_seen_at)
    values ('gifts', 'a', 'h', 1, '{}', '', '', ${runId}, ${READ_AT}, ${READ_AT})`,
  acceptance_uses: (runId) => sql`
    with accepted as (
      insert into livehouse_ops.acceptances (stream, missing_rows, reason, accepted_at, expires_at)
      values ('gifts', 1, '', ${READ_AT}, ${EXPIRES_AT}) returning acceptance_id)
    insert into livehouse_ops.acceptance_uses select acceptance_id, ${runId}, 1 from accepted`,
  // The last one of its job.
  job_runs: (runId) => sql`
    insert into livehouse_ops.job_runs (job, is_repeat, status, attempts, worker, run_id, started_at)
    values ('nightly', false, 'running', 1, 'host:1', ${runId}, ${READ_AT})`,
  missed_rows: (runId) => sql`insert into livehouse_ops.missed_rows values ('gifts', 'a', 'k', ${READ_AT}, ${runId})`,
  unknown_fields: (runId) => sql`insert into livehouse_ops.unknown_fields values ('gifts', 'f', ${READ_AT}, ${runId})`,
  channel_states: (runId) => sql`insert into livehouse_ops.channel_states values ('9', 1, ${runId}, '2026-11-20')`,
  source_facts: (runId) => sql`
    insert into livehouse_ops.source_facts (topic, subject, evidence, found_at, run_id) values ('t', 's', '', ${READ_AT}, ${runId})`,
  headers: (runId) => sql`insert into livehouse_ops.headers values ('a', '[]', ${READ_AT}, ${runId})`,
  unlisted_questionnaires: (runId) => sql`
    insert into livehouse_ops.unlisted_questionnaires values ('a', ${runId}, ${READ_AT})`,
  open_slices: (runId) => sql`
    insert into livehouse_ops.open_slices (stream, partition, reads, pages_read, page_size, keys, last_page_keys,
      found_rows, quarantined_rows, calls, retries, run_id, started_at, read_at)
    values ('gifts', 'a', '[2026-01-01,2026-01-02)', 1, 1, '{}', '{}', 1, 0, 1, 0, ${runId}, ${READ_AT}, ${READ_AT})`,
}
