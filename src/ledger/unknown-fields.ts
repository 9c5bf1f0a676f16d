import { cleanText } from '../core/text.ts'
import type { Db } from '../store/database.ts'
import { ops, ROWS_A_STATEMENT } from './ops.ts'

/** Names are cut to fit into an index; `extra` of the row has the whole name. */
const MAX_NAME_LENGTH = 255

/** Records fields that the spec does not know, a thousand of a slice at most. @returns those that are new */
export async function recordUnknownFields(
  db: Db,
  stream: string,
  fields: Iterable<string>,
  runId: string,
  seenAt: Date,
): Promise<readonly string[]> {
  const names = [...new Set([...fields].map((field) => cleanText(field.slice(0, MAX_NAME_LENGTH))))]
  const rows = names.slice(0, ROWS_A_STATEMENT).map((field) => ({ stream, field, firstSeenAt: seenAt, runId }))
  if (rows.length === 0) return []
  const newFields = await ops(db)
    .insertInto('unknown_fields')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['stream', 'field']).doNothing())
    .returning('field')
    .execute()
  return newFields.map(({ field }) => field)
}

/** The unknown fields first seen after an instant, in order; no more than one statement can write alerts for. */
export async function readUnknownFields(db: Db, after: Date): Promise<readonly { stream: string; field: string }[]> {
  const fields = ops(db).selectFrom('unknown_fields').select(['stream', 'field']).where('firstSeenAt', '>', after)
  return await fields.orderBy('stream').orderBy('field').limit(ROWS_A_STATEMENT).execute()
}
