import { LivehouseError } from '../core/errors.ts'
import { partitionKey } from '../core/slice.ts'
import { type Slice, sliceName } from './slice-work.ts'

/** Why a slice is `short`. */
export function shortfall(slice: Slice, reason = ''): LivehouseError {
  const { stream, partition } = slice
  const message = `${stream.name} ${sliceName(slice)} is short: ${reason}. The next sync reads it again.`
  return new LivehouseError('slice.short', message, { stream: stream.name, partition: partitionKey(partition), reason })
}

/** Nothing can be written down any more, or may be. */
export function mayNotRecord(error: unknown): boolean {
  return error instanceof LivehouseError && (error.code === 'lease.lost' || error.code.startsWith('db.'))
}

/** For the ledger. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
