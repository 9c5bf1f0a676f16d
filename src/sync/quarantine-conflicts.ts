import type { Transaction } from 'kysely'
import type { Row } from '../core/column.ts'
import { type Partition, partitionKey } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { jsonText } from '../core/text.ts'
import { conflictItem, type QuarantineOrigin, quarantineItems } from '../ledger/quarantine/quarantine.ts'
import type { Database } from '../store/database.ts'
import { lockVersions, readOtherVersionRows } from '../store/load/other-version.ts'
import { keyField, rowKey } from './walk.ts'
import { minuteOf } from './windows.ts'

/** The run that finds a conflict, and the time. */
type Finder = Pick<QuarantineOrigin, 'runId' | 'seenAt' | 'timeZone'>

/**
 * Must be called before rows are loaded into a table with two versions. If a row and one of the other version have the
 * same key but are different records, the one of the lower version goes to quarantine, whichever came first.
 * @returns the number of rows in conflict
 */
export async function quarantineConflicts(
  trx: Transaction<Database>,
  stream: Stream,
  partition: Partition,
  rows: readonly Row[],
  finder: Finder,
): Promise<number> {
  const { versions } = stream
  if (versions === undefined) return 0
  await lockVersions(trx, stream, versions, partitionKey(partition))
  const otherRows = await readOtherVersionRows(trx, stream, versions, rows)
  if (otherRows.length === 0) return 0

  const keyOf = rowKey(stream)
  const own = new Map(rows.map((row) => [keyOf(row), row]))
  const isHigher = versions.own > versions.other.version
  const items = otherRows.flatMap((other) => {
    const row = own.get(keyOf(other))
    const differing =
      row === undefined ? [] : versions.sameIn.filter((name) => differs(row, other, name, stream, finder))
    if (row === undefined || differing.length === 0) return []
    return [conflictItem(itemOf(isHigher ? other : row, stream), keyField(stream), differing)]
  })
  const place = { stream: isHigher ? versions.other.stream : stream.name, partition: partitionKey(partition) }
  await quarantineItems(trx, { ...finder, ...place }, items)
  return items.length
}

/** Whether two values differ. NULL equals anything; times are compared by the minute, as seconds may be missing. */
function differs(row: Row, otherRow: Row, name: string, { columns }: Stream, { timeZone }: Finder): boolean {
  const isTime = columns[name]?.type === 'timestamptz'
  const [one, other] = [row, otherRow].map((each) => (isTime ? minuteOf(each[name], timeZone) : each[name]) ?? null)
  return one !== null && other !== null && one !== other
}

/** The values of a row that came from the service, as JSON text; the same whichever version finds the conflict. */
function itemOf(row: Row, { columns }: Stream): string {
  const names = Object.keys(columns).filter((name) => columns[name]?.source.kind === 'field')
  const values = [...names, 'extra'].flatMap((name) => ((row[name] ?? null) === null ? [] : [[name, row[name]]]))
  return jsonText(Object.fromEntries(values))
}
