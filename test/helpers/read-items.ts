import type { Row } from '../../src/core/column.ts'
import type { Page } from '../../src/core/page.ts'
import type { Partition } from '../../src/core/slice.ts'
import type { Stream } from '../../src/core/stream.ts'
import { identifyRows } from '../../src/sync/extract-unkeyed.ts'
import { itemReader } from '../../src/transform/field.ts'
import { pageOf } from './scripted-pages.ts'

const everyPart: Partition = { channel: '9', type: 'cash', question: 'q1' }

/** The rows that a stream makes of items; none of them may be rejected. */
export function readItems(
  stream: Stream,
  items: readonly unknown[],
  fields: Partial<Page> = {},
  partition = everyPart,
): readonly Row[] {
  const read = itemReader(stream, { partition, serviceDay: '2026-11-20' })
  return items.map((item) => {
    const result = read(item, pageOf(items, fields))
    if (result.kind === 'rejected') throw new Error(result.reason)
    return result.row
  })
}

/** The same with their keys, for streams whose rows have no id. */
export function readIdentified(stream: Stream, items: readonly unknown[], fields: Partial<Page> = {}): readonly Row[] {
  if (!stream.identity) throw new Error(`rows of ${stream.name} have an id`)
  return identifyRows(stream, stream.identity, readItems(stream, items, fields), 'Asia/Shanghai')
}
