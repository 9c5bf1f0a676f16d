import type { Kysely } from 'kysely'
import type { Truth } from '../../../src/emulator/truth.ts'
import type { Database } from '../../../src/store/database.ts'
import { runQuery } from '../../../src/store/pool.ts'
import { groupBy } from './question.ts'
import { textIn, viewerKey } from './truth-facts.ts'

/** A channel that is no longer read. None of its visits names a viewer. */
export const RETIRED = '10009999'

/** Adds rows to the tables that a service may send but the emulator does not. @returns the truth with the same rows */
export async function addOddRows(db: Kysely<Database>, truth: Truth): Promise<Truth> {
  const { watch_records: visits, gifts, signups } = truth
  const times = { entered_at: '2026-09-09T02:00:00Z', left_at: '2026-09-09T03:00:00Z' }
  const row = { run_id: 1, inserted_at: times.left_at, changed_at: times.left_at }
  const unnamed = { ...visits[0], ...times, ...row, user_id: null, watch_seconds: 9000, online_seconds: 3600 }
  const added = [
    { ...unnamed, record_id: '1', live_seconds: null },
    { ...unnamed, record_id: RETIRED, channel_id: RETIRED },
  ]
  // The only visit of a viewer. It moves to a week in which no other viewer first came.
  const once = groupBy(visits, viewerKey).find(({ rows }) => rows.length === 1)?.rows[0] ?? {}
  const unpaid = gifts.findLast((gift) => gift.gift_type === 'cash' && gift.visitor_id !== null) ?? {}
  const undated = textIn(signups[0] ?? {}, 'user_id')
  const statements = `insert into livehouse.channels (channel_id, state, run_id) values ('${RETIRED}', 'retired', 1);
    insert into livehouse_ops.slices (run_id, stream, partition, covers, settled, reads, status, proof, distinct_rows,
      quarantined_rows, calls, retries, started_at, finished_at)
    select 1, 'watch_records', 'channel=${RETIRED}', r, r, r, 'landed', 'verified', 1, 0, 1, 0, now(), now()
    from tsrange('2026-09-01', '2026-09-10') r;
    update livehouse.watch_records set entered_at = '${times.entered_at}', left_at = '${times.left_at}'
    where channel_id = '${textIn(once, 'channel_id')}' and record_id = ${Number(once.record_id)};
    insert into livehouse.watch_records
    select * from jsonb_populate_recordset(null::livehouse.watch_records, '${JSON.stringify(added)}');
    update livehouse.manager_usage set cost_total_watch = null
    where cost_total_watch = (select min(cost_total_watch) from livehouse.manager_usage);
    update livehouse.gifts set amount = null
    where visitor_id = '${textIn(unpaid, 'visitor_id')}' and given_at = '${textIn(unpaid, 'given_at')}';
    update livehouse.signups set signed_up_at = null where user_id = '${undated}'`
  await runQuery(db, statements)
  return {
    ...truth,
    watch_records: [...visits.map((visit) => (visit === once ? { ...visit, ...times } : visit)), ...added],
    gifts: gifts.map((gift) => (gift === unpaid ? { ...gift, amount: null } : gift)),
    signups: signups.map((signup) => (signup.user_id === undated ? { ...signup, signed_up_at: null } : signup)),
  }
}
