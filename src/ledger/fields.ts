import { jsonBuildObject } from 'kysely/helpers/postgres'
import type { Place } from '../core/slice.ts'
import { cleanText } from '../core/text.ts'
import type { Db } from '../store/database.ts'
import { isAt, ops, type Statement } from './ops.ts'

/** Remembers the fields of items; those on record as missing no longer are. `fields`: at least one. */
export function rememberFields(db: Db, place: Place, fields: readonly string[]): Statement {
  return ops(db)
    .insertInto('known_fields')
    .values(fields.map((field) => ({ ...place, field })))
    .onConflict((conflict) =>
      conflict
        .columns(['stream', 'partition', 'field'])
        .doUpdateSet({ missingSince: null, acceptedAt: null, reason: null })
        .where('known_fields.missingSince', 'is not', null),
    )
}

/** Notes that a slice had these fields in none of its items. */
export async function noteMissingFields(db: Db, place: Place, fields: readonly string[], at: Date): Promise<void> {
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
  db: Db,
  { stream, channelId, reason, at }: { stream: string; channelId: string | null; reason: string; at: Date },
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

/** An index cannot hold longer names; `extra` of the row has the whole name. */
const LONGEST_NAME = 255

/** Remembers fields that the spec does not know. @returns those that are new */
export async function rememberUnknownFields(
  db: Db,
  stream: string,
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

/** The unknown fields that first came after an instant, in order. */
export async function readUnknownFields(db: Db, after: Date): Promise<readonly { stream: string; field: string }[]> {
  const found = ops(db).selectFrom('unknown_fields').select(['stream', 'field']).where('firstSeenAt', '>', after)
  return await found.orderBy('stream').orderBy('field').execute()
}

/**
 * A query, as one value, of the fields that items have had, without those that are accepted as missing. `isPresent`: it
 * was not missing last time.
 */
export function selectKnownFields(db: Db, place: Place) {
  const known = ops(db).selectFrom('known_fields').where(isAt(place)).where('acceptedAt', 'is', null)
  return known.select((eb) => {
    const field = jsonBuildObject({ field: eb.ref('field'), isPresent: eb('missingSince', 'is', null) })
    return eb.fn.agg<readonly { field: string; isPresent: boolean }[] | null>('json_agg', [field]).as('fields')
  })
}
