import type { Stream } from '../core/stream.ts'
import { type NewAcceptance, readAcceptances, recordAcceptance } from '../ledger/acceptances.ts'
import { readShortfalls } from '../ledger/open-readings.ts'
import { acceptMissingFields } from '../ledger/slices.ts'
import { readSource } from '../ledger/source.ts'
import type { Db } from '../store/database.ts'

interface Wanted extends Pick<NewAcceptance, 'channelId' | 'reason' | 'acceptedAt' | 'expiresAt'> {
  readonly stream: Stream
}

/**
 * Accepts what a stream lacks: fields that are no longer delivered, and rows.
 * @returns the fields; the acceptance of the rows, or why there is none; the service's time zone
 */
export async function acceptShortfalls(db: Db, { stream, ...wanted }: Wanted) {
  const { channelId, reason, acceptedAt } = wanted
  const shortfalls = await readShortfalls(db, stream.name, channelId)
  const fields = await acceptMissingFields(db, { stream: stream.name, channelId, reason, at: acceptedAt })
  const timeZone = (await readSource(db))?.timeZone ?? 'UTC'
  if (shortfalls.length === 0) return { fields, timeZone, failure: 'nothing short' } as const
  if (shortfalls.some(({ missingRows }) => missingRows === null))
    return { fields, timeZone, failure: 'size unknown' } as const
  const isKeyed = stream.identity === undefined
  const acceptanceId = await recordAcceptance(db, { ...wanted, stream: stream.name, shortfalls, isKeyed })
  const acceptance = (await readAcceptances(db)).find((each) => each.acceptanceId === acceptanceId)
  return { fields, timeZone, acceptance, isKeyed }
}
