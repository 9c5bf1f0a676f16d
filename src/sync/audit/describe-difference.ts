import type { Stream } from '../../core/stream.ts'
import { formatWallMinute } from '../../core/wall-clock.ts'
import type { Difference } from './partition-audit.ts'

const KEYS_SHOWN = 5

/** One sentence without values: they may be personal data, and this goes to logs and into the record of the run. */
export function describeDifference(difference: Difference, keyColumn: string): string {
  const { window } = difference
  const where = window === undefined ? '' : ` from ${formatWallMinute(window.from)} to ${formatWallMinute(window.to)}`
  return `${whatDiffers(difference, keyColumn)}${where}`
}

function whatDiffers(difference: Difference, keyColumn: string): string {
  switch (difference.kind) {
    case 'missing':
      return `${counted(difference.rows)} of the source ${are(difference.rows)} missing from the warehouse (${keysOf(difference.keys, difference.rows, keyColumn)})`
    case 'surplus':
      return `${counted(difference.rows)} of the warehouse ${are(difference.rows)} not at the source (${keysOf(difference.keys, difference.rows, keyColumn)})`
    case 'changed':
      return `${keyColumn} ${difference.key} differs in ${difference.cells.map(({ column }) => column).join(', ')}`
    case 'count':
      return difference.rows > 0
        ? `the source has ${counted(difference.rows)} more than the warehouse`
        : `the warehouse has ${counted(-difference.rows)} more than the source`
    case 'reopened':
      return 'an earlier audit found a difference, and nothing has been read again since (livehouse sync)'
    case 'withheld':
      return `the source says that there ${are(difference.rows)} ${counted(difference.rows)} more than it delivers`
  }
}

function keysOf(keys: readonly string[], rows: number, keyColumn: string): string {
  const shown = keys.slice(0, KEYS_SHOWN)
  const rest = rows - shown.length
  return `${keyColumn} ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

function counted(rows: number): string {
  return `${rows} ${rows === 1 ? 'row' : 'rows'}`
}

function are(rows: number): string {
  return rows === 1 ? 'is' : 'are'
}

/**
 * Whether reading again mends it: rows of some streams are never marked as removed, whether they were named or only counted, and
 * what the source withholds stays away.
 */
export function isMendedByReading(difference: Difference, { marksRemoved }: Pick<Stream, 'marksRemoved'>): boolean {
  const isTooMany = difference.kind === 'surplus' || (difference.kind === 'count' && difference.rows < 0)
  return difference.kind !== 'withheld' && (!isTooMany || marksRemoved)
}
