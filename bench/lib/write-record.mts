import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'

/** Tables whose rows belong to one partition each. */
const TABLES = ['visitors', 'watch_records', 'gifts', 'signups']

/**
 * Makes the database record, at the end of each transaction of a worker, which partitions it wrote to and which process
 * held their leases then. It recognizes a worker's connections by their application name, `worker …`.
 */
export async function recordWrites(db: Kysely<Database>): Promise<void> {
  await sql`create schema bench`.execute(db)
  await sql`create table bench.writes (number bigint generated always as identity, worker text, lease text,
    run text, holder text, epoch bigint, for_run text)`.execute(db)
  await sql`
    create function bench.record() returns trigger language plpgsql security definer as $$
    declare
      changed jsonb = to_jsonb(new);
      lease_name text = 'partition ' || coalesce(changed ->> 'stream', tg_table_name) || ' ' ||
        coalesce(changed ->> 'partition', 'channel=' || (changed ->> 'channel_id') ||
          coalesce('/type=' || (changed ->> 'gift_type'), '/question=' || (changed ->> 'question_id'), ''));
    begin
      if current_setting('application_name') like 'worker %' then
        insert into bench.writes (worker, lease, run, holder, epoch, for_run)
          select current_setting('application_name'), lease_name, changed ->> 'run_id', holder, epoch, for_run::text
          from (select) as one left join livehouse_ops.leases on name = lease_name;
      end if;
      return null;
    end $$`.execute(db)
  const record = (table: string, condition = sql``) =>
    sql`create constraint trigger record after insert or update on ${sql.table(table)}
      deferrable initially deferred for each row ${condition} execute function bench.record()`.execute(db)
  for (const table of TABLES) await record(`livehouse.${table}`)
  await record('livehouse_ops.slices', sql`when (new.status = 'landed')`)
}

export interface WriteRecord {
  /** Slices and rows that workers have written. */
  readonly writes: number
  /** Leases under which something was written, each counted as often as it was taken. */
  readonly epochs: number
  /** Writes of a process that did not hold the lease, or held it for another run, or wrote after a later holder. */
  readonly intrusions: readonly string[]
}

/** @param holders each worker's name as a holder of leases, by the application name of its connections */
export async function readWrites(db: Kysely<Database>, holders: ReadonlyMap<string, string>): Promise<WriteRecord> {
  interface Counted {
    readonly worker: string
    readonly lease: string
    readonly run: string
    readonly holder: string | null
    readonly for_run: string | null
    readonly count: number
  }
  const counted = await sql<Counted>`
    select worker, lease, run, holder, for_run, count(*)::int from bench.writes
    group by worker, lease, run, holder, for_run`.execute(db)
  const foreign = counted.rows.filter((write) => {
    return holders.get(write.worker) !== write.holder || write.run !== write.for_run
  })
  const shared = await sql<{ lease: string; epoch: string; workers: string }>`
    select lease, epoch, string_agg(distinct worker, ', ') as workers from bench.writes
    group by lease, epoch having count(distinct worker) > 1`.execute(db)
  const late = await sql<{ lease: string; epoch: string; worker: string }>`
    select lease, epoch, worker from (select *, max(epoch) over (partition by lease order by number) as newest
      from bench.writes) as writes where epoch < newest`.execute(db)
  const epochs = await sql<{ count: number }>`
    select count(distinct (lease, epoch))::int as count from bench.writes`.execute(db)
  return {
    writes: counted.rows.reduce((sum, { count }) => sum + count, 0),
    epochs: epochs.rows[0]?.count ?? 0,
    intrusions: [
      ...foreign.map(
        ({ worker, lease, run, holder, for_run }) =>
          `${worker} wrote ${lease} for run ${run}, held by ${holder ?? 'nobody'} for run ${for_run ?? 'none'}`,
      ),
      ...shared.rows.map(({ lease, epoch, workers }) => `${workers} wrote ${lease} under epoch ${epoch}`),
      ...late.rows.map(
        ({ lease, epoch, worker }) => `${worker} wrote ${lease} under epoch ${epoch}, after a later one`,
      ),
    ],
  }
}
