import { cleanText } from '../core/text.ts'
import type { Db } from '../store/database.ts'
import { ops, ROWS_A_STATEMENT } from './ops.ts'

/** An index cannot hold longer names; `extra` of the row has the whole name. */
const LONGEST_NAME = 255

/** Remembers fields that the spec does not know, of one slice a thousand at most. @returns those that are new */
export async function rememberUnknownFields(
  db: Db,
  stream: string,
  fields: Iterable<string>,
  runId: string,
  seenAt: Date,
): Promise<readonly string[]> {
  const names = [...new Set([...fields].map((field) => cleanText(field.slice(0, LONGEST_NAME))))]
  const rows = names.slice(0, ROWS_A_STATEMENT).map((field) => ({ stream, field, firstSeenAt: seenAt, runId }))
  if (rows.length === 0) return []
  const fresh = await ops(db)
    .insertInto('unknown_fields')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['stream', 'field']).doNothing())
    .returning('field')
    .execute()
  return fresh.map(({ field }) => field)
}

/** The unknown fields that first came after an instant, in order: as many as one statement writes alerts of. */
export async function readUnknownFields(db: Db, after: Date): Promise<readonly { stream: string; field: string }[]> {
  const found = ops(db).selectFrom('unknown_fields').select(['stream', 'field']).where('firstSeenAt', '>', after)
  return await found.orderBy('stream').orderBy('field').limit(ROWS_A_STATEMENT).execute()
}
