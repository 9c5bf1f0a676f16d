import { type Kysely, sql } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../db/database.ts'

export interface SeenHeaders {
  readonly stream: StreamName
  readonly partition: string
  /** JSON text. */
  readonly title: string
  readonly runId: string
  readonly seenAt: Date
}

/**
 * Remembers the headers of a questionnaire. Where they are not what they were, everything that was covered until now is
 * forgotten: all of it is read again, so that no row keeps its old questions. @returns whether they changed
 */
export async function rememberHeaders(trx: Kysely<Database>, headers: SeenHeaders): Promise<boolean> {
  const { stream, partition, title, runId, seenAt } = headers
  const before = await trx
    .selectFrom('livehouse_ops.headers')
    .select([sql<boolean>`title = ${title}::jsonb`.as('is_same')])
    .where('partition', '=', partition)
    .forUpdate()
    .executeTakeFirst()
  if (before?.is_same) return false
  await trx
    .insertInto('livehouse_ops.headers')
    .values({ partition, title, run_id: runId, seen_at: seenAt })
    .onConflict((conflict) => conflict.column('partition').doUpdateSet({ title, run_id: runId, seen_at: seenAt }))
    .execute()
  if (before === undefined) return false
  await trx
    .updateTable('livehouse_ops.slices')
    .set({ status: 'forgotten' })
    .where('stream', '=', stream)
    .where('partition', '=', partition)
    .where('status', '=', 'landed')
    .execute()
  return true
}
