import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { ops, type Row } from '../ops.ts'

/** Items of one stream that wait in quarantine for the same kind of reason. */
export type QuarantineGroup = Awaited<ReturnType<typeof readQuarantineGroups>>[number]

/** Characters of a sample: enough to see what is wrong, but little of a person's data. */
export const SAMPLE_LENGTH = 80

/** A JSON string, whole or cut off before its closing quote. */
const QUOTED = String.raw`"([^"\\]|\\.)*("|$)`
const LONG_NUMBER = String.raw`\d{5,}`

/**
 * Groups the items in quarantine by stream and kind of reason, the largest groups of a stream first.
 * @param streams all when not given @param limit how many items to read: all when not given
 */
export async function readQuarantineGroups(
  db: Db,
  { streams, limit }: { readonly streams?: readonly string[] | undefined; readonly limit?: number | undefined } = {},
) {
  const items = ops(db)
    .selectFrom('quarantine')
    .select(['stream', 'partition', 'reason', 'raw', 'firstSeenAt', 'lastSeenAt'])
    .where('resolvedAt', 'is', null)
    .$if(streams !== undefined, (query) => query.where('stream', 'in', streams ?? []))
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
  // The reason with … in place of each value from the service. Nested calls are plainer in SQL.
  const reasonKind = sql<string>`
    left(regexp_replace(regexp_replace(reason, ${QUOTED}, '…', 'g'), ${LONG_NUMBER}, '…', 'g'), 300)`
  const rows = await ops(db)
    .selectFrom(items.as('item'))
    .select(({ fn }) => [
      'stream',
      reasonKind.as('kind'),
      fn.countAll<string>().as('count'),
      fn.min('firstSeenAt').as('firstSeenAt'),
      fn.max('lastSeenAt').as('lastSeenAt'),
      fn.agg<readonly string[]>('array_agg', ['partition']).distinct().as('partitions'),
    ])
    // The beginning of the latest item as JSON text: personal data. The builder cannot take an element of an array.
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

/** Items, last seen first. @param stream all when undefined @param rawLength how many characters of each to return */
export async function readShownItems(
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
