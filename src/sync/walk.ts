import type { Row } from '../core/column.ts'
import type { ItemReader, Page, RejectedItem } from '../core/page.ts'
import type { Window } from '../core/slice.ts'
import type { ChannelFacts, Stream } from '../core/stream.ts'
import { jsonText } from '../core/text.ts'
import { DAY } from '../core/wall-clock.ts'
import { duplicateItem, STRAY } from '../ledger/quarantine/quarantine.ts'
import { rowKeyColumn } from '../store/load/table-part.ts'
import { rejection, withRaw } from '../transform/read-item.ts'
import type { HeldRow, Totals, WalkSummary } from './slice-work.ts'
import { liesWithin } from './windows.ts'

export type Walk = ReturnType<typeof startWalk>

/**
 * Starts counting a walk. It holds keys, not rows. Only the rows of `repeatedKeys`, which came more than once in an
 * earlier walk, are held back, because only the end of the walk shows which of them is the freshest.
 */
export function startWalk(
  stream: Stream,
  readItem: ItemReader,
  repeatedKeys: Pick<ReadonlySet<string>, 'has'> = new Set(),
) {
  const keyOf = rowKey(stream)
  const isKeyed = stream.identity === undefined
  const expected = expectedFields(stream)
  const keys = createKeySet()
  const heldBack = new Map<string, HeldRow[]>()
  const rejected: RejectedItem[] = []
  const rejectedAgain: RejectedItem[] = []
  const rejectedBefore = new Set<string>()
  const repeated: Row[] = []
  const unknownFields = new Set<string>()
  const [absentFields, unreadFields] = [new Set(expected), new Set(expected)]
  const lists = { heldBack, rejected, rejectedAgain, repeated, unknownFields, absentFields, unreadFields }
  const counts = { received: 0, distinct: 0, repeatsOnPage: 0, degraded: 0 }
  let totals: Totals | undefined
  let channelFacts: ChannelFacts | undefined

  /** Notes which of the declared fields an item has, and which of them are readable. */
  const noteFields = (item: unknown, unread: readonly string[]): void => {
    for (const field of absentFields) if (Object.hasOwn(Object(item), field)) absentFields.delete(field)
    for (const field of unreadFields)
      if (Object.hasOwn(Object(item), field) && !unread.includes(field)) unreadFields.delete(field)
  }
  /** Holds a row back. @returns whether its key has already come */
  const hold = (key: string, heldRow: HeldRow): boolean => {
    const rows = heldBack.get(key) ?? []
    heldBack.set(key, rows)
    keys.add(key)
    return rows.push(heldRow) > 1
  }
  return {
    /** Reads a page; returns the rows whose keys are new in this walk and not held back. */
    add: (page: Page): readonly Row[] => {
      totals = addTotal(totals, page.total)
      counts.received += page.items.length
      const fresh: Row[] = []
      const rejectedHere: RejectedItem[] = []
      const keysHere = new Set<string>()
      for (const item of page.items) {
        const read = readItem(item, page)
        const unread = read.kind === 'row' ? read.unreadFields : expected
        noteFields(item, unread)
        if (read.kind === 'rejected') {
          const list = isKeyed && rejectedBefore.has(read.raw) ? rejectedAgain : rejectedHere
          list.push(read)
          continue
        }
        const { row } = read
        for (const field of read.unknownFields) unknownFields.add(field)
        channelFacts = completeFacts(channelFacts, stream, item)
        const key = keyOf(row)
        if (keysHere.has(key)) counts.repeatsOnPage++
        keysHere.add(key)
        const isHeld = repeatedKeys.has(key)
        const isAgain = isHeld ? hold(key, { row, raw: jsonText(item) }) : isKeyed && !keys.add(key)
        if (!isHeld) (isAgain ? repeated : fresh).push(row)
        if (isAgain) continue
        counts.distinct++
        if (unread.length > 0) counts.degraded++
      }
      rejected.push(...rejectedHere)
      for (const { raw } of rejectedHere) rejectedBefore.add(raw)
      return fresh
    },
    /** Counts the items of a page that have already come in this walk. Only for streams with a key. */
    countKnown: (page: Page): number =>
      page.items.filter((item) => {
        const read = readItem(item, page)
        return read.kind === 'rejected' ? rejectedBefore.has(read.raw) : keys.has(keyOf(read.row))
      }).length,
    summary: (): WalkSummary => ({ totals, channelFacts, ...counts, ...lists }),
    /** The keys of this walk, without the parts that the partition determines. */
    keys,
  }
}

function addTotal(totals: Totals | undefined, total: number | undefined): Totals | undefined {
  if (total === undefined) return totals
  const { first, smallest, largest } = totals ?? { first: total, smallest: total, largest: total }
  return { first, last: total, smallest: Math.min(smallest, total), largest: Math.max(largest, total) }
}

/** The fields that every item of a stream should have; none if items are arrays of cells (API 4.11). */
export function expectedFields(
  { columns, readItem }: Stream,
  names: readonly string[] = Object.keys(columns),
): readonly string[] {
  if (readItem !== undefined) return []
  return names.flatMap((name) => {
    const source = columns[name]?.source
    return source?.kind === 'field' && source.isOptional !== true ? [source.field] : []
  })
}

/** Completes the facts about a channel from a readable item. */
function completeFacts(known: ChannelFacts | undefined, stream: Stream, item: unknown): ChannelFacts | undefined {
  if (known && known.name !== null && known.adminId !== null) return known
  const facts = stream.channelFacts?.(item)
  return facts ? { name: known?.name ?? facts.name, adminId: known?.adminId ?? facts.adminId } : known
}

/** Whether a number of rows may be a limit of what the service counts or serves, such as 10,000, 500 or whole pages. */
export function mayBeLimit(rows: number): boolean {
  return rows > 0 && rows % 100 === 0
}

/** A row as text without `extra`, because unknown fields may differ in every answer. */
export function declaredText(row: Row): string {
  return jsonText({ ...row, extra: null })
}

/** The readable rows of a page. */
export function rowsOf(page: Page, readItem: ItemReader): readonly Row[] {
  return page.items.flatMap((item) => {
    const read = readItem(item, page)
    return read.kind === 'row' ? [read.row] : []
  })
}

/** Makes a function that returns the key of a row within its partition, as text. */
export function rowKey(stream: Stream): (row: Row) => string {
  const column = rowKeyColumn(stream)
  return (row) => String(row[column])
}

/** Rejects rows over a day outside of the requested range: no request for the time that they show would return them. */
export function rejectStrays(
  readItem: ItemReader,
  timeColumn: string,
  requested: Window,
  timeZone: string,
): ItemReader {
  const range = { from: requested.from - DAY, to: requested.to + DAY }
  return (item, page) => {
    const read = readItem(item, page)
    if (read.kind === 'rejected' || liesWithin(read.row, [timeColumn], range, timeZone)) return read
    return withRaw(rejection(timeColumn, `${timeColumn} ${STRAY}`), item, page)
  }
}

/** The freshest row of each key that was held back. The order of arrival does not matter. */
export function freshestOf(stream: Stream, heldBack: WalkSummary['heldBack']): readonly Row[] {
  return [...heldBack.values()].flatMap((rows) => freshestFirst(stream, rows).slice(0, 1)).map(({ row }) => row)
}

/** The rows with other contents than the freshest one of their key, for quarantine. */
export function duplicatesOf(stream: Stream, heldBack: WalkSummary['heldBack']): readonly RejectedItem[] {
  const path = keyField(stream)
  return [...heldBack.values()].flatMap((rows) => {
    const byContent = new Map(freshestFirst(stream, rows).map((each) => [declaredText(each.row), each]))
    return [...byContent.values()].slice(1).map(({ raw }) => duplicateItem(raw, path, rows.length))
  })
}

/** The source field of the key column. */
export function keyField(stream: Stream): string {
  const source = stream.columns[rowKeyColumn(stream)]?.source
  return source?.kind === 'field' ? source.field : ''
}

function freshestFirst({ freshnessColumn }: Stream, rows: readonly HeldRow[]): readonly HeldRow[] {
  const freshness = ({ row, raw }: HeldRow) => [String(row[freshnessColumn ?? ''] ?? ''), raw].join('\u0000')
  return rows.toSorted((a, b) => (freshness(a) < freshness(b) ? 1 : -1))
}

/** A set of keys that holds their hashes: 10 bytes per key, where a set of strings takes 100. */
export type KeySet = ReturnType<typeof createKeySet>

const FULLEST = 0.9
const GROWTH = 1.5

/**
 * Creates a set of keys with 53-bit hashes. Among three million keys, two share a hash with a probability of 1 in 2000.
 * The second one is then taken for a repeated key, so the walk is not proven, and the next walk compares that key as
 * text (`repeatedKeys` of `startWalk`).
 */
function createKeySet() {
  let size = 0
  /** Open addressing: a hash is in its own slot or in the next free one; 0 is an empty slot. */
  let slots = new Float64Array(64)

  const find = (hash: number): number => {
    let slot = Math.floor((hash / 2 ** 53) * slots.length)
    while (slots[slot] !== 0 && slots[slot] !== hash) slot = slot + 1 === slots.length ? 0 : slot + 1
    return slot
  }
  const grow = (): void => {
    const full = slots
    slots = new Float64Array(Math.ceil(full.length * GROWTH))
    for (const hash of full) if (hash !== 0) slots[find(hash)] = hash
  }
  return {
    add: (key: string): boolean => {
      if (size >= slots.length * FULLEST) grow()
      const hash = hashOf(key)
      const slot = find(hash)
      if (slots[slot] === hash) return false
      slots[slot] = hash
      size += 1
      return true
    },
    has: (key: string): boolean => {
      const hash = hashOf(key)
      return slots[find(hash)] === hash
    },
  }
}

/** The published hash cyrb53, from 1 to 2 ** 53 - 1. */
function hashOf(key: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let index = 0; index < key.length; index++) {
    const unit = key.charCodeAt(index)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return (low & 0x1fffff) * 2 ** 32 + (high >>> 0) || 1
}
