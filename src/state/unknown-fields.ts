import type { Kysely } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'

/** Remembers fields that the spec does not know. @returns those that nobody has seen before */
export async function rememberUnknownFields(
  db: Kysely<Database>,
  stream: StreamName,
  fields: Iterable<string>,
  runId: string,
  seenAt: Date,
): Promise<readonly string[]> {
  const rows = [...fields].map((field) => ({ stream, field, first_seen_at: seenAt, run_id: runId }))
  if (rows.length === 0) return []
  const fresh = await db
    .insertInto('livehouse_ops.unknown_fields')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['stream', 'field']).doNothing())
    .returning('field')
    .execute()
  return fresh.map(({ field }) => field)
}
