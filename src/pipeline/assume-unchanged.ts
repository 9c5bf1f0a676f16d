import { createHash } from 'node:crypto'
import { jsonText } from '../core/json-text.ts'
import type { Page } from '../core/page.ts'
import type { StreamName } from '../core/stream.ts'
import { isQuietSince } from '../state/walk-marks.ts'
import type { HeldVerdict } from './hold-against-earlier.ts'
import type { SliceReading } from './open-reading.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/** The stream of which a whole list may be left out: the others have short ones. */
export const ASSUMABLE: StreamName = 'visitors'

/** A page as it came, in few characters. */
export function digestPage({ items }: Page): string {
  return createHash('sha256').update(jsonText(items)).digest('hex')
}

/**
 * Looks at page 1 of a list: whether its total and its first page are those of the last verified walk, and no watch record of the
 * channel is newer. That says nothing for sure of the other pages. The page is not asked for again by who reads the list.
 * @returns undefined where the list has to be read, or was not to be left out
 */
export async function assumeUnchanged(
  { sameAs, partition: { channel } }: Slice,
  reading: SliceReading,
  { db, timeZone }: RunDeps,
): Promise<Pick<HeldVerdict, 'reason' | 'isDrop'> | undefined> {
  if (sameAs === undefined || channel === undefined) return undefined
  const first = await reading.firstPage()
  if (first.total !== sameAs.total || digestPage(first) !== sameAs.firstPage) return undefined
  if (!(await isQuietSince(db, channel, sameAs.walkedAt, timeZone))) return undefined
  const reason = `it began as at its last verified walk, ${sameAs.walkedAt.toISOString()}, with the same total ${first.total}`
  return { reason, isDrop: false }
}
