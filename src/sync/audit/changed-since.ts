import type { Row } from '../../core/column.ts'
import type { Stream, StreamName } from '../../core/stream.ts'
import { DAY, type WallTime, wallTimeAt } from '../../core/wall-clock.ts'
import type { DifferingRow } from '../../store/compare-rows.ts'
import { minuteOf } from '../row-window.ts'

/** What happened so shortly before a reading need not have been shown to it yet. */
const DELAY_SECONDS = 300

/** By which time a row was there; where it is not told, the latest of its times. */
const bornColumns: Readonly<Partial<Record<StreamName, string>>> = {
  visitors: 'first_login_at',
  questionnaires: 'created_at',
  signups: 'signed_up_at',
  gifts: 'given_at',
  manager_usage: 'created_on',
}

/** Rows that people edit, and that do not tell when: only directly after a reading is what differs known to be wrong. */
const editedStreams: ReadonlySet<StreamName> = new Set(['questionnaires', 'managers', 'manager_usage'])

/** What moves without anybody's visit, and leaves no time behind. */
const movingColumns: Readonly<Partial<Record<StreamName, ReadonlySet<string>>>> = {
  manager_usage: new Set([
    'channel_count',
    'last_login_at',
    'last_push_at',
    'cost_total_watch',
    'cost_vod_watch',
    'cost_live_watch',
    'cost_transfer',
  ]),
}

/**
 * Whether a row may differ only because the source has moved on since it was last read: it is newer than that reading, or was
 * in use when or after it was made. Then the next sync brings it, and nothing is wrong. `lastReadAt`: undefined where it was
 * never read, and nothing is claimed.
 */
export function hasChangedSince(
  stream: Stream,
  { kind, row, cells }: Pick<DifferingRow, 'kind' | 'row' | 'cells'>,
  lastReadAt: Date | undefined,
  { timeZone, nowMs }: { readonly timeZone: string; readonly nowMs: number },
): boolean {
  if (lastReadAt === undefined) return true
  const readAt = wallTimeAt(lastReadAt.getTime(), timeZone)
  const isSince = (time: WallTime | undefined) => time !== undefined && time > readAt - DELAY_SECONDS
  if (kind === 'missing') {
    const born = bornColumns[stream.name]
    const at = latestOf(row, born === undefined ? timesOf(stream) : [born], timeZone)
    // That one tells the day alone.
    return isSince(at !== undefined && born === 'created_on' ? at + DAY : at)
  }
  if (editedStreams.has(stream.name) && nowMs > lastReadAt.getTime() + DELAY_SECONDS * 1000) return true
  const moving = movingColumns[stream.name]
  if (moving && cells.every(({ column }) => moving.has(column))) return true
  return stream.freshnessColumn !== undefined && isSince(latestOf(row, [stream.freshnessColumn], timeZone))
}

/** Whether rows tell when they came about or changed. Of what does not, only the number shows what is new. */
export function hasTimes(stream: Stream): boolean {
  return bornColumns[stream.name] !== undefined || timesOf(stream).length > 0
}

function timesOf({ timeColumns, freshnessColumn }: Stream): readonly string[] {
  return [...timeColumns, ...(freshnessColumn === undefined ? [] : [freshnessColumn])]
}

function latestOf(row: Row, columns: readonly string[], timeZone: string): WallTime | undefined {
  const minutes = columns.flatMap((column) => minuteOf(row[column], timeZone) ?? [])
  return minutes.length === 0 ? undefined : Math.max(...minutes)
}
