import type { Kysely } from 'kysely'
import type { Place } from '../core/slice.ts'
import type { StreamName } from '../core/stream.ts'
import { cleanText } from '../core/text.ts'
import type { Database } from '../store/database.ts'
import { isAt, ops } from './ops.ts'

/** Remembers what items had; one that was missing is back. It writes only what is new. `fields`: at least one. */
export async function rememberFields(db: Kysely<Database>, place: Place, fields: readonly string[]): Promise<void> {
  await ops(db)
    .insertInto('known_fields')
    .values(fields.map((field) => ({ ...place, field })))
    .onConflict((conflict) =>
      conflict
        .columns(['stream', 'partition', 'field'])
        .doUpdateSet({ missingSince: null, acceptedAt: null, reason: null })
        .where('known_fields.missingSince', 'is not', null),
    )
    .execute()
}

/** Notes that a slice had these fields in none of its items. */
export async function noteMissingFields(
  db: Kysely<Database>,
  place: Place,
  fields: readonly string[],
  at: Date,
): Promise<void> {
  await ops(db)
    .updateTable('known_fields')
    .set({ missingSince: at })
    .where(isAt(place))
    .where('field', 'in', fields)
    .where('missingSince', 'is', null)
    .execute()
}

/** Accepts that fields of a channel (null for the account) are missing. @returns their names, if any is missing */
export async function acceptMissingFields(
  db: Kysely<Database>,
  { stream, channelId, reason, at }: { stream: StreamName; channelId: string | null; reason: string; at: Date },
): Promise<readonly string[]> {
  // A channel's partitions begin with its name.
  const place = channelId === null ? 'account' : `channel=${channelId}`
  const rows = await ops(db)
    .updateTable('known_fields')
    .set({ acceptedAt: at, reason })
    .where('stream', '=', stream)
    .where((eb) => eb(eb.fn<string>('split_part', ['partition', eb.val('/'), eb.lit(1)]), '=', place))
    .where('missingSince', 'is not', null)
    .where('acceptedAt', 'is', null)
    .returning('field')
    .execute()
  return [...new Set(rows.map(({ field }) => field))].sort()
}

/** Of a name an index holds no more; the row's `extra` has all of it. */
const LONGEST_NAME = 255

/** Remembers fields that the spec does not know. @returns those that nobody has seen before */
export async function rememberUnknownFields(
  db: Kysely<Database>,
  stream: StreamName,
  fields: Iterable<string>,
  runId: string,
  seenAt: Date,
): Promise<readonly string[]> {
  const names = new Set([...fields].map((field) => cleanText(field.slice(0, LONGEST_NAME))))
  const rows = [...names].map((field) => ({ stream, field, firstSeenAt: seenAt, runId }))
  if (rows.length === 0) return []
  const fresh = await ops(db)
    .insertInto('unknown_fields')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['stream', 'field']).doNothing())
    .returning('field')
    .execute()
  return fresh.map(({ field }) => field)
}
