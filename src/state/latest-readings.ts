import { sql } from 'kysely'

/**
 * What the ledger says at present, each as a subquery that all its readers share. They go by `livehouse_ops.partition_states`, which
 * the database renews with every change of a slice: what they cost does not grow with the ledger.
 */

/** Of each partition its last slice, the last one that was read to its end (`landed_…`), and what is covered. */
export const latestReadings = sql`(
  select state.stream, state.partition, state.channel_id, state.is_windowed, state.covers, state.verified_at, state.landed_at,
    landed.proof as landed_proof, latest.slice_id, latest.run_id, latest.status, latest.proof, latest.error
  from livehouse_ops.partition_states as state
    join livehouse_ops.slices as latest on latest.slice_id = state.latest_slice_id
    left join livehouse_ops.slices as landed on landed.slice_id = state.landed_slice_id)`

/** Ranges inside what a partition covers that are not covered. */
export const coverageGaps = sql`(
  select stream, partition, channel_id, gap
  from livehouse_ops.partition_states, unnest(tsmultirange(range_merge(covers)) - covers) as gap)`

/**
 * Readings that fell short or failed, that no later one has made good and nobody has accepted: of each range the last one. The
 * youngest minutes, which no reading covers, are not waited for.
 */
export const openProblems = sql`(
  select distinct on (bad.stream, bad.partition, bad.reads) state.channel_id, bad.*
  from livehouse_ops.slices as bad join livehouse_ops.partition_states as state using (stream, partition)
  where bad.status = 'failed' and bad.proof <> 'accepted'
    and case when bad.reads is null then bad.slice_id > coalesce(state.landed_slice_id, 0)
      else not state.covers @> coalesce(bad.covers, bad.reads) end
  order by bad.stream, bad.partition, bad.reads, bad.slice_id desc)`

/** Readings that fell short, which was accepted, until a later one has read the same to its end. */
export const acceptedShortfalls = sql`(
  select state.channel_id, accepted.*
  from livehouse_ops.slices as accepted join livehouse_ops.partition_states as state using (stream, partition)
  where accepted.acceptance_id is not null and accepted.proof = 'accepted' and not exists (
    select from livehouse_ops.slices as later where later.stream = accepted.stream and later.partition = accepted.partition
      and later.slice_id > accepted.slice_id and later.status in ('landed', 'moving')
      and (accepted.reads is null or later.reads @> accepted.reads)))`
