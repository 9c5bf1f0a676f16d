import { type Kysely, sql } from 'kysely'
import type { Database } from '../db/database.ts'

/** The day on which each of these manager accounts was created, or was first seen where that is not told; only of those whose usage is held. */
export async function readManagerCreations(
  db: Kysely<Database>,
  managerIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ id: string; day: string }>`
    select manager_id::text as id, coalesce(min(created_on), min(snapshot_date))::text as day
    from livehouse.manager_usage where manager_id = any(${managerIds}::bigint[]) group by manager_id`.execute(db)
  return new Map(rows.map(({ id, day }) => [id, day]))
}
