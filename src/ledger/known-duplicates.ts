import type { Kysely } from 'kysely'
import { type Partition, partitionKey } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { Database } from '../store/database.ts'
import type { QuarantinedItem } from './quarantine.ts'

/** What the reason of such an item begins with. */
export const DUPLICATE = 'duplicate'

/** A row that the source lists beside a fresher one of the same key, for quarantine. */
export function duplicateItem(
  raw: string,
  path: string,
  rows: number,
): QuarantinedItem & { readonly kind: 'rejected' } {
  const reason = `${DUPLICATE}: ${path} came ${rows} times with different contents in a list that stood still; the latest is kept`
  return { kind: 'rejected', raw, path, reason, headers: null }
}

export function isDuplicate({ reason }: Pick<QuarantinedItem, 'reason'>): boolean {
  return reason.startsWith(DUPLICATE)
}

/**
 * The source fields of the rows of a partition that are in quarantine as duplicates, as text. A number beyond 2^53 may not be
 * exact: a list with such duplicates takes a walk more.
 */
export async function readDuplicates(
  db: Kysely<Database>,
  { name }: Stream,
  partition: Partition,
): Promise<readonly (string | null)[]> {
  const rows = await db
    .selectFrom('livehouse_ops.quarantine')
    .select(['raw', 'path'])
    .where('stream', '=', name)
    .where('partition', '=', partitionKey(partition))
    .where('reason', 'like', `${DUPLICATE}%`)
    .where('resolved_at', 'is', null)
    .execute()
  return rows.map(({ raw, path }) => {
    // Not Postgres' own operator: U+0000, a lone surrogate or great depth anywhere in the item would fail the query.
    const value: unknown = Object(JSON.parse(raw))[path]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : null
  })
}
