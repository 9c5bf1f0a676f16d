import { sql } from 'kysely'
import { type WallTime, wallTimeAt } from '../../../src/core/wall-clock.ts'
import type { TruthRow } from '../../../src/emulator/truth.ts'
import { identityOf, timesOf } from '../model/model-world.ts'
import { readStreamTable } from '../read-table.ts'
import type { WorldAccount } from './account.ts'
import { type Bag, bagOf, difference, intersect, type Rows } from './bag.ts'

/** What this run calls agreed holds every row that was there while it ran: by the minute and the identity, whatever else it lacks. */
export async function requireAgreed(
  { database, streams }: WorldAccount,
  before: Rows,
  truth: Rows,
  toText: (row: TruthRow) => string,
): Promise<void> {
  for (const name of streams) {
    const { rows } = await sql<{ channel: string; type: string | null; lower: Date; upper: Date }>`
      select substring(partition from 'channel=([^/]+)') as channel, substring(partition from 'type=([^/]+)') as type,
        lower(covers) at time zone 'Asia/Shanghai' as lower, upper(covers) at time zone 'Asia/Shanghai' as upper
      from livehouse_ops.slices where stream = ${name} and proof = 'agreed' and status = 'landed' and covers is not null
        and run_id = (select max(run_id) from livehouse_ops.runs)`.execute(database.db)
    if (rows.length === 0) continue
    const stable = intersect(bagOf(before.get(name) ?? [], toText), bagOf(truth.get(name) ?? [], toText))
    const present = bagOf(await readStreamTable(database.db, name), identify)
    const agreed = [...stable.values()].filter(({ row }) => {
      const at = instantOf(row)
      return rows.some(
        ({ channel, type, lower, upper }) =>
          channel === row.channel_id &&
          (type ?? row.gift_type) === row.gift_type &&
          at >= lower.getTime() &&
          at < upper.getTime(),
      )
    })
    requireThere(name, agreed, present, identify)
  }
}

/** A row by what it is the same by, to the minute. */
const identify = ({ channel_id, gift_type, given_at, gift_id, amount }: TruthRow) =>
  JSON.stringify([channel_id, gift_type, typeof given_at === 'string' ? given_at.slice(0, 16) : '', gift_id, amount])

/** @throws where rows that are expected are not present as often */
export function requireThere(
  name: string,
  expected: readonly { readonly row: TruthRow; readonly count: number }[],
  present: Bag,
  toText: (row: TruthRow) => string,
): void {
  const counts = new Map<string, { row: TruthRow; count: number }>()
  for (const { row, count } of expected) {
    const text = toText(row)
    counts.set(text, { row, count: count + (counts.get(text)?.count ?? 0) })
  }
  const missing = difference(counts, present)
  if (missing.length > 0) throw new Error(describe(name, 'missing', missing, present, toText))
}

/** Says which rows are wrong, and what stands in their place. */
export function describe(
  name: string,
  what: string,
  rows: readonly TruthRow[],
  others: Bag,
  toText: (row: TruthRow) => string,
): string {
  const [first] = rows
  const alike = [...others.values()].filter(({ row }) => first && identityOf(name, row) === identityOf(name, first))
  return `${rows.length} rows of ${name} are ${what}: ${first ? toText(first) : ''}; on the other side: ${alike.map(({ row }) => toText(row)).join()}`
}

/** Milliseconds; what has no time counts as new. */
function instantOf(row: TruthRow): number {
  return timesOf(row)[0] ?? Number.POSITIVE_INFINITY
}

/** On the service's wall clock; what has no time counts as new. */
export function timeOf(row: TruthRow): WallTime {
  const instant = instantOf(row)
  return instant === Number.POSITIVE_INFINITY ? instant : wallTimeAt(instant, 'Asia/Shanghai')
}

/** Whether any of its times is not before this. */
export function isYounger(row: TruthRow, than: WallTime): boolean {
  return timesOf(row).some((at) => wallTimeAt(at, 'Asia/Shanghai') >= than)
}
