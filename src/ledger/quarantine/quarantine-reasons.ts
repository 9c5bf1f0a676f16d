import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { ops, type Row } from '../ops.ts'

/** Items of one stream that could not be read for the same kind of reason, and still cannot. */
export type QuarantineGroup = Awaited<ReturnType<typeof readQuarantine>>[number]

/** Characters of a sample: enough to see what is wrong, little of a person. */
export const SAMPLE_LENGTH = 80

/** A JSON string, also one that was cut off before its closing quote. */
const QUOTED = String.raw`"([^"\\]|\\.)*("|$)`
const LONG_NUMBER = String.raw`\d{5,}`

/**
 * What is in quarantine, by stream and kind of reason, the largest groups of a stream first.
 * @param streams all when not given @param most items that are looked at: all when not given
 */
export async function readQuarantine(
  db: Db,
  { streams, most }: { readonly streams?: readonly string[] | undefined; readonly most?: number } = {},
) {
  const items = ops(db)
    .selectFrom('quarantine')
    .select(['stream', 'partition', 'reason', 'raw', 'firstSeenAt', 'lastSeenAt'])
    .where('resolvedAt', 'is', null)
    .$if(streams !== undefined, (query) => query.where('stream', 'in', streams ?? []))
    .$if(most !== undefined, (query) => query.limit(most ?? 0))
  // In English, with … in place of every value that the service sent. Nested calls are plainer in SQL.
  const masked = sql<string>`
    left(regexp_replace(regexp_replace(reason, ${QUOTED}, '…', 'g'), ${LONG_NUMBER}, '…', 'g'), 300)`
  const rows = await ops(db)
    .selectFrom(items.as('item'))
    .select(({ fn }) => [
      'stream',
      masked.as('kind'),
      fn.countAll<string>().as('count'),
      fn.min('firstSeenAt').as('firstSeenAt'),
      fn.max('lastSeenAt').as('lastSeenAt'),
      fn.agg<readonly string[]>('array_agg', ['partition']).distinct().as('partitions'),
    ])
    // The beginning of the item that came last, as JSON text: personal data. The builder takes no element of an array.
    .select(sql<string>`(array_agg(left(raw, ${sql.lit(SAMPLE_LENGTH)}) order by last_seen_at desc))[1]`.as('sample'))
    .groupBy(['stream', 'kind'])
    .orderBy('stream')
    .orderBy('count', 'desc')
    .orderBy('kind')
    .execute()
  return rows.map(({ count, kind, ...group }) => ({ ...group, reason: kind, items: Number(count) }))
}

/** An item that is still unreadable; `raw` is only the beginning of its JSON text. */
export type ShownItem = Pick<Row<'quarantine'>, 'stream' | 'partition' | 'reason' | 'path' | 'raw' | 'lastSeenAt'>

/** Items, the last seen first. @param stream all when undefined @param rawLength characters of each */
export async function readQuarantinedItems(
  db: Db,
  { stream, count, skip, rawLength }: { stream: string | undefined; count: number; skip: number; rawLength: number },
): Promise<readonly ShownItem[]> {
  return await ops(db)
    .selectFrom('quarantine')
    .select(['stream', 'partition', 'reason', 'path', 'lastSeenAt'])
    .select((eb) => eb.fn<string>('left', ['raw', eb.lit(rawLength)]).as('raw'))
    .where('resolvedAt', 'is', null)
    .$if(stream !== undefined, (query) => query.where('stream', '=', stream ?? ''))
    .orderBy('lastSeenAt', 'desc')
    .orderBy('stream')
    .orderBy('partition')
    .orderBy('itemHash')
    .orderBy('ordinal')
    .limit(count)
    .offset(skip)
    .execute()
}
