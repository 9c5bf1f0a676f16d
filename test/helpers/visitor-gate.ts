import { type Kysely, sql } from 'kysely'
import type { Database } from '../../src/store/database.ts'
import { holdLock, untilBlocked } from './own-locks.ts'

/** An advisory lock that the test holds while somebody is to wait. */
const GATE = 4243

/** A gate before the insertion of a visitor with this id, when the rows before it have been inserted. */
export async function createVisitorGate(db: Kysely<Database>, userId: string) {
  await sql`create function public.wait_at_gate() returns trigger language plpgsql as $$ begin
    perform pg_advisory_lock(${sql.lit(GATE)});
    perform pg_advisory_unlock(${sql.lit(GATE)});
    return new; end $$`.execute(db)
  await sql`create trigger wait_at_gate before insert on livehouse.visitors for each row
    when (new.user_id = ${sql.lit(userId)}) execute function public.wait_at_gate()`.execute(db)
  return {
    /** Holds up what comes from now on. @returns lets it pass */
    close: async () => await holdLock(db, GATE),
    /** Until somebody waits there. */
    reached: async () => await untilBlocked(db, sql`locktype = 'advisory'`),
  }
}
