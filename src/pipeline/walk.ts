import type { Row } from '../core/column.ts'
import type { ItemReader, RejectedItem } from '../core/item.ts'
import type { Page } from '../core/page.ts'
import type { Stream } from '../core/stream.ts'

/** The source's own counts, over every answer of a walk. */
export interface Totals {
  readonly first: number
  readonly last: number
  readonly smallest: number
  readonly largest: number
}

/** What one walk over the pages of a slice brought, judged alone. */
export interface WalkSummary {
  /** Undefined where the source gives no total. */
  readonly totals: Totals | undefined
  /** Items as they came. */
  readonly received: number
  /** Rows with different keys; all rows where the source gives them none. */
  readonly distinct: number
  readonly rejected: readonly RejectedItem[]
  /** Rows whose key had come before in this walk, in the order in which they came. */
  readonly repeated: readonly Row[]
  readonly degraded: number
  /** Names of fields that the spec does not know. */
  readonly unknownFields: ReadonlySet<string>
}

export interface Walk {
  /** Reads a page; returns the rows whose keys are new in this walk. */
  readonly add: (page: Page) => readonly Row[]
  readonly summary: () => WalkSummary
  /** Whether this walk has brought a row of this key (without the parts that the partition names). */
  readonly hasKey: (key: string) => boolean
}

/** Starts counting a walk. Holds the keys that came, not the rows. */
export function startWalk(stream: Stream, readItem: ItemReader): Walk {
  const keyColumns = stream.key.filter((name) => stream.columns[name]?.source.kind === 'field')
  const isKeyed = stream.identity === undefined
  const keys = new Set<string>()
  const rejected: RejectedItem[] = []
  const repeated: Row[] = []
  const unknownFields = new Set<string>()
  let totals: Totals | undefined
  let received = 0
  let distinct = 0
  let degraded = 0

  return {
    add: (page) => {
      totals = addTotal(totals, page.total)
      received += page.items.length
      const fresh: Row[] = []
      for (const item of page.items) {
        const read = readItem(item, page)
        if (read.kind === 'rejected') {
          rejected.push(read)
          continue
        }
        for (const field of read.unknownFields) unknownFields.add(field)
        const key = keyColumns.map((name) => read.row[name]).join('\u0000')
        if (isKeyed && keys.has(key)) {
          repeated.push(read.row)
          continue
        }
        if (isKeyed) keys.add(key)
        distinct++
        if (read.unreadFields.length > 0) degraded++
        fresh.push(read.row)
      }
      return fresh
    },
    summary: () => ({ totals, received, distinct, rejected, repeated, degraded, unknownFields }),
    hasKey: (key) => keys.has(key),
  }
}

function addTotal(totals: Totals | undefined, total: number | undefined): Totals | undefined {
  if (total === undefined) return totals
  if (totals === undefined) return { first: total, last: total, smallest: total, largest: total }
  return {
    first: totals.first,
    last: total,
    smallest: Math.min(totals.smallest, total),
    largest: Math.max(totals.largest, total),
  }
}
