import type { ItemReader } from '../core/item.ts'
import { partitionKey, type Window, widen } from '../core/slice.ts'
import { formatWallDate, wallTimeAt } from '../core/wall-clock.ts'
import type { CallMeter } from './call-meter.ts'
import type { PageReading } from './page-reading.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** What every way of reading a slice begins with. */
export interface SliceReading {
  readonly pages: PageReading
  readonly readItem: ItemReader
  /** What goes on the wire; undefined for a walk over the whole list. */
  readonly asked: Window | undefined
  readonly reportPage: (rows: number, totalPages: number | undefined) => void
}

/** Whether the service's filters include their ends is not shown: each request asks for this much more on both sides. */
const OVERLAP_SECONDS = 60

export function openReading({ stream, partition, window }: Slice, deps: RunDeps, meter: CallMeter): SliceReading {
  const asked = window && widen(window, OVERLAP_SECONDS)
  const serviceDay = formatWallDate(wallTimeAt(deps.clock.now(), deps.timeZone))
  const name = { stream: stream.name, partition: partitionKey(partition) }
  return {
    pages: {
      fetchPage: deps.fetchPage,
      list: stream.request(partition, asked),
      pageSize: stream.pageSize,
      prefetch: deps.prefetch,
      context: { signal: deps.signal, onAttempt: meter.onAttempt },
    },
    readItem: deps.openItemReader(stream, { partition, serviceDay }),
    asked,
    reportPage: (rows, totalPages) => deps.report({ kind: 'page', ...name, rows, totalPages }),
  }
}
