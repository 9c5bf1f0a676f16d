import { type Kysely, type OperationNodeSource, sql } from 'kysely'
import type { Database } from '../store/database.ts'

/**
 * Executes statements that write to different tables, none of which gives anything back, in one exchange with the server. Each
 * sees the tables as they were before all of them.
 */
export async function executeTogether(db: Kysely<Database>, statements: readonly OperationNodeSource[]): Promise<void> {
  const parts = statements.map((statement, index) => sql`${sql.id(`part_${index}`)} as (${statement})`)
  await sql`with ${sql.join(parts)} select`.execute(db)
}
