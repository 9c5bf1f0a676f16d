import type { Kysely } from 'kysely'
import { LivehouseError } from '../core/errors.ts'
import { partitionKey } from '../core/slice.ts'
import { isDuplicate } from '../ledger/known-duplicates.ts'
import { noteMissingFields, rememberFields } from '../ledger/known-fields.ts'
import type { Database } from '../store/database.ts'
import type { SliceReading } from './page-reading.ts'
import type { RunDeps, Slice } from './slice-work.ts'
import { expectedFields, type WalkSummary } from './walk.ts'

/** Remembers which fields a reading had, in the transaction of its rows. */
export async function rememberPresentFields(
  db: Kysely<Database>,
  { stream, partition }: Slice,
  { received, absentFields }: ReadSoFar,
): Promise<void> {
  const present = expectedFields(stream).filter((field) => !absentFields.has(field))
  if (received === 0 || present.length === 0) return
  await rememberFields(db, { stream: stream.name, partition: partitionKey(partition) }, present)
}

type ReadSoFar = Pick<WalkSummary, 'received' | 'absentFields'>

/**
 * @returns what refuses, before rows are written, a reading in which a field is missing that was there before: what is known would be
 * overwritten with nothing. Throws LivehouseError `interface.changed`
 */
export function openFieldCheck(
  { stream, partition }: Slice,
  { earlier }: Pick<SliceReading, 'earlier'>,
  { db, clock }: Pick<RunDeps, 'db' | 'clock'>,
): (soFar: ReadSoFar) => Promise<void> {
  const place = { stream: stream.name, partition: partitionKey(partition) }
  return async ({ received, absentFields }) => {
    if (received < SMALLEST_SAMPLE || absentFields.size === 0) return
    const { knownFields } = await earlier()
    const fields = [...absentFields].filter((field) => knownFields.includes(field))
    if (fields.length === 0) return
    await noteMissingFields(db, place, fields, new Date(clock.now()))
    const channel = partition.channel === undefined ? '' : ` --channel ${partition.channel}`
    throw new LivehouseError(
      'interface.changed',
      `${place.stream} ${place.partition}: none of ${received} items has ${fields.join(', ')} any more, so nothing was ` +
        `written. Ask the service's support; where that is meant: livehouse accept --stream ${place.stream}${channel} --reason TEXT`,
      { ...place, fields, received },
    )
  }
}

/** Below this many items a few bad ones say nothing about the interface. */
const SMALLEST_SAMPLE = 20
const LARGEST_SHARE = 0.1

/**
 * Refuses a slice of which too much could not be read: that is a changed interface, not bad rows.
 * @throws LivehouseError `rows.unreadable`, with three sample reasons.
 */
export function requireReadable({ received, rejected: quarantined }: Pick<WalkSummary, 'received' | 'rejected'>): void {
  const rejected = quarantined.filter((item) => !isDuplicate(item))
  if (received < SMALLEST_SAMPLE || rejected.length <= received * LARGEST_SHARE) return
  const samples = [...new Set(rejected.map(({ reason }) => reason))].slice(0, 3)
  throw new LivehouseError(
    'rows.unreadable',
    `${rejected.length} of ${received} rows could not be read: ${samples.join('; ')}. They are kept in quarantine; ` +
      'the interface has probably changed (see `livehouse quarantine list`).',
    { rejected: rejected.length, received, samples },
  )
}
