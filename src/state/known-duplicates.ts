import { type Kysely, sql } from 'kysely'
import { type Partition, partitionKey } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { Database } from '../db/database.ts'
import type { QuarantinedItem } from './quarantine.ts'

const REASON = 'duplicate'

/** A row that the source lists beside a fresher one of the same key, for quarantine. */
export function duplicateItem(
  raw: string,
  path: string,
  rows: number,
): QuarantinedItem & { readonly kind: 'rejected' } {
  const reason = `${REASON}: ${path} came ${rows} times with different contents in a list that stood still; the latest is kept`
  return { kind: 'rejected', raw, path, reason, headers: null }
}

export function isDuplicate({ reason }: Pick<QuarantinedItem, 'reason'>): boolean {
  return reason.startsWith(REASON)
}

/** The source fields of the rows of a partition that are in quarantine as duplicates, as text. */
export async function readDuplicates(
  db: Kysely<Database>,
  { name }: Stream,
  partition: Partition,
): Promise<readonly (string | null)[]> {
  const rows = await db
    .selectFrom('livehouse_ops.quarantine')
    .select(sql<string | null>`raw::json ->> path`.as('value'))
    .where('stream', '=', name)
    .where('partition', '=', partitionKey(partition))
    .where('reason', 'like', `${REASON}%`)
    .where('resolved_at', 'is', null)
    .execute()
  return rows.map(({ value }) => value)
}
