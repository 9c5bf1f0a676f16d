import type { Row } from '../core/column.ts'
import type { ItemReader, RejectedItem } from '../core/item.ts'
import { jsonText } from '../core/json-text.ts'
import type { Page } from '../core/page.ts'
import type { Stream } from '../core/stream.ts'
import { expectedFields, removePresent } from './absent-fields.ts'
import { losersOf, winnersOf } from './real-duplicates.ts'
import { rowKey } from './row-key.ts'
import type { HeldRow } from './walk.ts'

/** What one page brought, judged alone. */
export interface PageRows {
  /** One a key; of several the freshest. */
  readonly rows: readonly Row[]
  /** Their keys, in the order of the page. */
  readonly keys: readonly string[]
  /** What cannot be read, and rows beside a fresher one of their key. */
  readonly rejected: readonly RejectedItem[]
  readonly degraded: number
  readonly unknownFields: ReadonlySet<string>
  /** Declared fields that no item of the page has. */
  readonly absentFields: ReadonlySet<string>
}

/** Reads the items of a page whose rows have a key. One answer cannot have moved: equal keys in it are real duplicates. */
export function readPageRows(stream: Stream, page: Page, readItem: ItemReader): PageRows {
  const keyOf = rowKey(stream)
  const held = new Map<string, HeldRow[]>()
  const unreadable: RejectedItem[] = []
  const unknownFields = new Set<string>()
  const absentFields = new Set(expectedFields(stream))
  let degraded = 0
  for (const item of page.items) {
    removePresent(absentFields, item)
    const read = readItem(item, page)
    if (read.kind === 'rejected') {
      unreadable.push(read)
      continue
    }
    for (const field of read.unknownFields) unknownFields.add(field)
    const key = keyOf(read.row)
    const raw = jsonText(item)
    const others = held.get(key) ?? []
    held.set(key, others)
    if (others.some((other) => other.raw === raw)) continue
    if (read.unreadFields.length > 0) degraded++
    others.push({ row: read.row, raw })
  }
  return {
    rows: winnersOf(stream, held),
    keys: [...held.keys()],
    rejected: [...unreadable, ...losersOf(stream, held)],
    degraded,
    unknownFields,
    absentFields,
  }
}
