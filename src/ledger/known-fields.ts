import { type Kysely, sql } from 'kysely'
import type { StreamName } from '../core/stream.ts'
import type { Database } from '../store/database.ts'

/** Where fields are known: one partition of a stream, as in the ledger. */
export interface FieldPlace {
  readonly stream: StreamName
  readonly partition: string
}

/** Remembers what items had; one that was missing is back. It writes only what is new. `fields`: at least one. */
export async function rememberFields(
  db: Kysely<Database>,
  place: FieldPlace,
  fields: readonly string[],
): Promise<void> {
  await db
    .insertInto('livehouse_ops.known_fields')
    .values(fields.map((field) => ({ ...place, field })))
    .onConflict((conflict) =>
      conflict
        .columns(['stream', 'partition', 'field'])
        .doUpdateSet({ missing_since: null, accepted_at: null, reason: null })
        .where(sql<boolean>`known_fields.missing_since is not null`),
    )
    .execute()
}

/** Notes that a slice had these fields in none of its items. */
export async function noteMissingFields(
  db: Kysely<Database>,
  place: FieldPlace,
  fields: readonly string[],
  at: Date,
): Promise<void> {
  await db
    .updateTable('livehouse_ops.known_fields')
    .set({ missing_since: at })
    .where('stream', '=', place.stream)
    .where('partition', '=', place.partition)
    .where('field', 'in', fields)
    .where('missing_since', 'is', null)
    .execute()
}

/** Accepts that fields of a channel (null for the account) are missing. @returns their names; none where none is missing */
export async function acceptMissingFields(
  db: Kysely<Database>,
  { stream, channelId, reason, at }: AcceptedFields,
): Promise<readonly string[]> {
  const isOfChannel =
    channelId === null
      ? sql<boolean>`partition = 'account'`
      : sql<boolean>`substring(partition from '^channel=([^/]+)') = ${channelId}`
  const rows = await db
    .updateTable('livehouse_ops.known_fields')
    .set({ accepted_at: at, reason })
    .where('stream', '=', stream)
    .where(isOfChannel)
    .where('missing_since', 'is not', null)
    .where('accepted_at', 'is', null)
    .returning('field')
    .execute()
  return [...new Set(rows.map(({ field }) => field))].sort()
}

export interface AcceptedFields {
  readonly stream: StreamName
  readonly channelId: string | null
  readonly reason: string
  readonly at: Date
}

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
