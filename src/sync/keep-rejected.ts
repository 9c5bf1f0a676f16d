import { partitionKey } from '../core/slice.ts'
import { withoutPhones } from '../core/printable.ts'
import { quarantineItems } from '../ledger/quarantine.ts'
import { rememberUnknownFields } from '../ledger/known-fields.ts'
import { askedOf } from './open-reading.ts'
import type { RunDeps, Slice } from './slice-work.ts'
import type { WalkSummary } from './walk.ts'

/** Keeps what could not become a row, whatever becomes of the slice, and tells of fields that nobody has seen before. */
export async function keepRejected(
  slice: Slice,
  { rejected, unknownFields }: Pick<WalkSummary, 'rejected' | 'unknownFields'>,
  { db, clock, log, runId, timeZone, requireLease }: RunDeps,
): Promise<void> {
  if (rejected.length + unknownFields.size === 0) return
  const { stream, partition } = slice
  const seenAt = new Date(clock.now())
  const origin = {
    stream: stream.name,
    partition: partitionKey(partition),
    runId,
    seenAt,
    timeZone,
    asked: askedOf(slice),
  }
  const fields = await db.transaction().execute(async (trx) => {
    await quarantineItems(trx, origin, rejected)
    const unknown = await rememberUnknownFields(trx, stream.name, unknownFields, runId, seenAt)
    await requireLease(trx, stream.name, partition)
    return unknown
  })
  if (fields.length > 0) log.warn('fields.unknown', { stream: stream.name, fields: fields.map(withoutPhones) })
}
