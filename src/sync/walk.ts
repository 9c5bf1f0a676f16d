import type { Row } from '../core/column.ts'
import { jsonText } from '../core/text.ts'
import type { ItemReader, Page, RejectedItem } from '../core/page.ts'
import type { ChannelFacts, Stream } from '../core/stream.ts'
import type { SliceRecord } from '../ledger/slices/slices.ts'
import { rowKeyColumn } from '../store/load/table-part.ts'

/** The totals in all answers of a walk. */
type Totals = NonNullable<SliceRecord['totals']>

/** A row that is held back, as its key may come more than once, with its item as it came. */
export interface HeldRow {
  readonly row: Row
  readonly raw: string
}

/** What came in a walk, one reading of all pages of a slice. */
export interface WalkSummary {
  /** Undefined where the source gives no total. */
  readonly totals: Totals | undefined
  readonly received: number
  /** Rows with different keys; all rows where the source gives them none. */
  readonly distinct: number
  readonly rejected: readonly RejectedItem[]
  /** Where rows have keys: unreadable items that had come on an earlier page, as the list has moved or holds two. */
  readonly rejectedAgain: readonly RejectedItem[]
  /** Rows whose key had come before in this walk, in the order in which they came. */
  readonly repeated: readonly Row[]
  /** Rows that came on one page with another of their key: within one answer nothing can have moved. */
  readonly repeatsOnPage: number
  /** Rows that were held back, by key. They count nowhere else, but each key is a distinct row. */
  readonly held: ReadonlyMap<string, readonly HeldRow[]>
  readonly degraded: number
  /** Names of fields that the spec does not know. */
  readonly unknownFields: ReadonlySet<string>
  readonly channelFacts: ChannelFacts | undefined
  /** Names of declared fields that no item has had, and of those that no row has had in a form that could be read. */
  readonly absentFields: ReadonlySet<string>
  readonly unreadFields: ReadonlySet<string>
}

export type Walk = ReturnType<typeof startWalk>

/**
 * Starts counting a walk. It holds the keys that came, not the rows. Only rows of `repeatedKeys`, which came more than
 * once in an earlier walk, are held back: which of them counts is known at the end.
 */
export function startWalk(
  stream: Stream,
  readItem: ItemReader,
  repeatedKeys: Pick<ReadonlySet<string>, 'has'> = new Set(),
) {
  const keyOf = rowKey(stream)
  const isKeyed = stream.identity === undefined
  const held = new Map<string, HeldRow[]>()
  const keys = createKeySet()
  const rejected: RejectedItem[] = []
  const rejectedAgain: RejectedItem[] = []
  const rejectedBefore = new Set<string>()
  const repeated: Row[] = []
  const unknownFields = new Set<string>()
  const expected = expectedFields(stream)
  const [absentFields, unreadFields] = [new Set(expected), new Set(expected)]
  let totals: Totals | undefined
  let channelFacts: ChannelFacts | undefined
  let received = 0
  let distinct = 0
  let repeatsOnPage = 0
  let degraded = 0

  return {
    /** Reads a page; returns the rows whose keys are new in this walk and not held back. */
    add: (page: Page): readonly Row[] => {
      totals = addTotal(totals, page.total)
      received += page.items.length
      const fresh: Row[] = []
      const rejectedHere: RejectedItem[] = []
      const keysHere = new Set<string>()
      for (const item of page.items) {
        for (const field of absentFields) if (Object.hasOwn(Object(item), field)) absentFields.delete(field)
        const read = readItem(item, page)
        const unread = read.kind === 'row' ? read.unreadFields : expected
        for (const field of unreadFields)
          if (Object.hasOwn(Object(item), field) && !unread.includes(field)) unreadFields.delete(field)
        if (read.kind === 'rejected') {
          const those = isKeyed && rejectedBefore.has(read.raw) ? rejectedAgain : rejectedHere
          those.push(read)
          continue
        }
        for (const field of read.unknownFields) unknownFields.add(field)
        channelFacts = completeFacts(channelFacts, stream, item)
        const key = keyOf(read.row)
        if (keysHere.has(key)) repeatsOnPage++
        keysHere.add(key)
        if (repeatedKeys.has(key)) {
          const rows = held.get(key) ?? []
          held.set(key, rows)
          rows.push({ row: read.row, raw: jsonText(item) })
          if (rows.length > 1) continue
          keys.add(key)
        } else if (isKeyed && !keys.add(key)) {
          repeated.push(read.row)
          continue
        } else fresh.push(read.row)
        distinct++
        if (unread.length > 0) degraded++
      }
      rejected.push(...rejectedHere)
      for (const { raw } of rejectedHere) rejectedBefore.add(raw)
      return fresh
    },
    /** How many items of a page have come before in this walk. For streams with a key. */
    countKnown: (page: Page): number =>
      page.items.filter((item) => {
        const read = readItem(item, page)
        return read.kind === 'rejected' ? rejectedBefore.has(read.raw) : keys.has(keyOf(read.row))
      }).length,
    summary: (): WalkSummary => ({
      totals,
      received,
      distinct,
      rejected,
      rejectedAgain,
      repeated,
      repeatsOnPage,
      held,
      degraded,
      unknownFields,
      channelFacts,
      absentFields,
      unreadFields,
    }),
    /** The keys that came in this walk (without the parts that the partition names). */
    keys,
  }
}

function addTotal(totals: Totals | undefined, total: number | undefined): Totals | undefined {
  if (total === undefined) return totals
  const { first, smallest, largest } = totals ?? { first: total, smallest: total, largest: total }
  return { first, last: total, smallest: Math.min(smallest, total), largest: Math.max(largest, total) }
}

/** The fields that every item should have, by their stream; none where items are rows of cells (API 4.11). */
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

/** Adds what a readable item says about its channel. */
function completeFacts(known: ChannelFacts | undefined, stream: Stream, item: unknown): ChannelFacts | undefined {
  if (known && known.name !== null && known.adminId !== null) return known
  const more = stream.channelFacts?.(item)
  return more ? { name: known?.name ?? more.name, adminId: known?.adminId ?? more.adminId } : known
}

/** Whether so many rows may be the most that the service counts or shows, as 10,000, 500 or some pages: not all. */
export function mayBeLimit(rows: number): boolean {
  return rows > 0 && rows % 100 === 0
}

/** A row as text, without the fields that the spec does not know: those may differ in every answer. */
export function declaredText(row: Row): string {
  return jsonText({ ...row, extra: null })
}

/** What tells the rows of one partition apart, as text. */
export function rowKey(stream: Stream): (row: Row) => string {
  const column = rowKeyColumn(stream)
  return (row) => String(row[column])
}

/** A set of keys, kept as hashes: 10 bytes a key instead of the 100 that a set of texts takes. */
export type KeySet = ReturnType<typeof createKeySet>

const FULLEST = 0.9
const GROWTH = 1.5

/**
 * Tells keys apart by 53-bit hashes. Among three million keys the chance that two share a hash is one in two thousand.
 * Then the second seems to come again: the walk proves nothing, and the next one compares that key as text
 * (`repeatedKeys` of `startWalk`).
 */
function createKeySet() {
  let size = 0
  /** Open addressing: a hash lies in its slot or in the next free one; an empty slot is 0. */
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
