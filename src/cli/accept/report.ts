import { formatWallTime } from '../../core/wall-clock.ts'
import { type Acceptance, isStanding } from '../../ledger/acceptances.ts'
import { counted, formatTable, minuteIn, rangeText } from '../format.ts'

interface AcceptanceTime {
  readonly nowMs: number
  /** The service's zone, in which times are shown. */
  readonly timeZone: string
}

/** Ranges of one acceptance that are named one by one. */
const MOST_RANGES = 3

/** `visitors channel=9: 2 rows may be missing until 2026-12-20 14:30: duplicates of March`. */
export function describeAcceptance(acceptance: Acceptance, { timeZone }: AcceptanceTime): string {
  const { missingRows, expiresAt, reason } = acceptance
  const where = acceptance.windows.length === 0 ? '' : ` (${rangesOf(acceptance)})`
  return `${placeOf(acceptance)}${where}: ${counted(missingRows, 'row')} may be missing until ${minuteIn(timeZone)(expiresAt)}: ${reason}`
}

/** Every acceptance as a table, for a person. */
export function describeAcceptances(acceptances: readonly Acceptance[], time: AcceptanceTime): string[] {
  if (acceptances.length === 0) return ['nothing has been accepted']
  const rows = acceptances.map((acceptance) => [
    acceptance.acceptanceId,
    acceptance.stream,
    acceptance.channelId ?? 'account',
    acceptance.windows.length === 0 ? 'whole list' : rangesOf(acceptance),
    acceptance.missingRows,
    acceptance.takenRows ?? '–',
    stateOf(acceptance, time.nowMs),
    minuteIn(time.timeZone)(acceptance.expiresAt),
    acceptance.reason,
  ])
  const header = ['number', 'stream', 'channel', 'range', 'rows', 'last taken', 'state', 'until', 'reason']
  return [...formatTable(header, rows), `Times are those of ${time.timeZone}.`]
}

/** The same for programs. */
export function acceptanceObject(acceptance: Acceptance, nowMs: number): Readonly<Record<string, unknown>> {
  return {
    number: acceptance.acceptanceId,
    stream: acceptance.stream,
    channel: acceptance.channelId,
    ranges: acceptance.windows.map(({ from, to }) => ({ from: formatWallTime(from), to: formatWallTime(to) })),
    missing_rows: acceptance.missingRows,
    last_taken_rows: acceptance.takenRows ?? null,
    state: stateOf(acceptance, nowMs),
    reason: acceptance.reason,
    accepted_at: acceptance.acceptedAt.toISOString(),
    expires_at: acceptance.expiresAt.toISOString(),
  }
}

function stateOf(acceptance: Acceptance, nowMs: number): 'standing' | 'withdrawn' | 'expired' {
  if (isStanding(acceptance, nowMs)) return 'standing'
  return acceptance.withdrawnAt === null ? 'expired' : 'withdrawn'
}

function placeOf({ stream, channelId }: Acceptance): string {
  return channelId === null ? stream : `${stream} channel=${channelId}`
}

function rangesOf({ windows }: Acceptance): string {
  const shown = windows.slice(0, MOST_RANGES).map(rangeText)
  const rest = windows.length - shown.length
  return [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ')
}
