import { boundsOf } from '../app/outcome.ts'
import type { Acceptance } from '../ledger/slices/acceptances.ts'
import { formatCount, formatMinuteIn, formatRange } from './format.ts'

/** The largest number of ranges to list. */
const MAX_RANGES = 3

/** `visitors channel=9: 2 rows may be missing until 2026-12-20 14:30: duplicates of March`, in a zone's time. */
export function describeAcceptance(acceptance: Acceptance, timeZone: string): string {
  const { stream, channelId, windows, missingRows, expiresAt, reason } = acceptance
  const place = channelId === null ? stream : `${stream} channel=${channelId}`
  const more = windows.length > MAX_RANGES ? [`${windows.length - MAX_RANGES} more`] : []
  const ranges = [...windows.slice(0, MAX_RANGES).map(formatRange), ...more].join(', ')
  const until = formatMinuteIn(timeZone)(expiresAt)
  const where = ranges === '' ? '' : ` (${ranges})`
  return `${place}${where}: ${formatCount(missingRows, 'row')} may be missing until ${until}: ${reason}`
}

/** The JSON object of an acceptance. */
export function acceptanceObject(acceptance: Acceptance, nowMs: number): Readonly<Record<string, unknown>> {
  return {
    number: acceptance.acceptanceId,
    stream: acceptance.stream,
    channel: acceptance.channelId,
    ranges: acceptance.windows.map(boundsOf),
    missing_rows: acceptance.missingRows,
    last_taken_rows: acceptance.takenRows ?? null,
    state: isInForce(acceptance, nowMs) ? 'standing' : 'expired',
    reason: acceptance.reason,
    accepted_at: acceptance.acceptedAt.toISOString(),
    expires_at: acceptance.expiresAt.toISOString(),
  }
}

/** Whether it has not expired yet. */
export function isInForce({ expiresAt }: Acceptance, nowMs: number): boolean {
  return expiresAt.getTime() > nowMs
}
