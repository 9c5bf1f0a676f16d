import type { Kysely, OperationNodeSource } from 'kysely'
import type { Row } from '../core/column.ts'
import { LivehouseError } from '../core/errors.ts'
import { partitionKey } from '../core/slice.ts'
import { isDuplicate } from '../ledger/known-duplicates.ts'
import { knownFieldsEntry, noteMissingFields } from '../ledger/known-fields.ts'
import type { Database } from '../store/database.ts'
import type { SliceReading } from './open-reading.ts'
import type { RunDeps, Slice } from './slice-work.ts'
import { expectedFields, type WalkSummary } from './walk.ts'

/** The statement that remembers which fields a reading had, for the transaction of its rows; undefined where it had none. */
export function presentFieldsEntry(
  db: Kysely<Database>,
  { stream, partition }: Slice,
  { received, absentFields }: ReadSoFar,
): OperationNodeSource | undefined {
  const present = expectedFields(stream).filter((field) => !absentFields.has(field))
  if (received === 0 || present.length === 0) return undefined
  return knownFieldsEntry(db, { stream: stream.name, partition: partitionKey(partition) }, present)
}

type ReadSoFar = Pick<WalkSummary, 'received' | 'absentFields'>

/** Whether a reading may be written, by the fields that earlier ones of the partition had. */
export interface FieldCheck {
  /** Whether a field that was there before is in none of the items so far. */
  readonly isLacking: (soFar: ReadSoFar) => Promise<boolean>
  /**
   * Refuses a reading in which a field is missing that was there before: what is known would be overwritten with nothing.
   * @throws LivehouseError `interface.changed`
   */
  readonly require: (soFar: ReadSoFar) => Promise<void>
}

export function openFieldCheck(
  { stream, partition }: Slice,
  { earlier }: Pick<SliceReading, 'earlier'>,
  { db, clock }: Pick<RunDeps, 'db' | 'clock'>,
): FieldCheck {
  const place = { stream: stream.name, partition: partitionKey(partition) }
  const missingOf = async ({ received, absentFields }: ReadSoFar): Promise<readonly string[]> => {
    if (received === 0 || absentFields.size === 0) return []
    const { knownFields } = await earlier()
    return [...absentFields].filter((field) => knownFields.includes(field))
  }
  return {
    isLacking: async (soFar) => (await missingOf(soFar)).length > 0,
    require: async (soFar) => {
      if (soFar.received < SMALLEST_SAMPLE) return
      const fields = await missingOf(soFar)
      if (fields.length === 0) return
      await noteMissingFields(db, place, fields, new Date(clock.now()))
      const channel = partition.channel === undefined ? '' : ` --channel ${partition.channel}`
      throw new LivehouseError(
        'interface.changed',
        `${place.stream} ${place.partition}: none of ${soFar.received} items has ${fields.join(', ')} any more, so nothing was ` +
          `written. Ask the service's support; where that is meant: livehouse accept --stream ${place.stream}${channel} --reason TEXT`,
        { ...place, fields, received: soFar.received },
      )
    },
  }
}

/** Rows that wait until it shows that their reading lacks no field. */
export interface HeldBack {
  readonly add: (rows: readonly Row[], soFar: ReadSoFar) => Promise<void>
  /** At the end of a reading. */
  readonly flush: (soFar: ReadSoFar) => Promise<void>
}

/** More rows are not held: a field that none of so many has is missing. */
const MOST_HELD = 2000

/** Gives rows of a reading to `load`, but none before one of its items has had each field that was there before. */
export function holdBack(check: FieldCheck, load: (rows: readonly Row[]) => Promise<void>): HeldBack {
  let held: readonly Row[] = []
  const flush = async (soFar: ReadSoFar): Promise<void> => {
    await check.require(soFar)
    await load(held)
    held = []
  }
  return {
    add: async (rows, soFar) => {
      held = held.length === 0 ? rows : [...held, ...rows]
      if (held.length >= MOST_HELD || !(await check.isLacking(soFar))) await flush(soFar)
    },
    flush,
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
