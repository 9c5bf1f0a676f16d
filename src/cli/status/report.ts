import { proofs, type Window } from '../../core/slice.ts'
import { formatWallTime, type WallTime } from '../../core/wall-clock.ts'
import { type Acceptance, isStanding } from '../../ledger/acceptances.ts'
import { acceptanceObject, describeAcceptance } from '../accept/report.ts'
import { formatAge, formatDuration, formatProofs, formatTable, leftOf, minuteIn, snakeCased } from '../format.ts'
import type { Status, StreamStatus } from './collect-status.ts'
import type { OpenReading, OpenReadings } from '../../ledger/open-readings.ts'
import { onlyWhenNamed, streams as defaultStreams } from '../../streams/registry.ts'

/** What is known, for a person. Times are those of the service's wall clock. */
export function describeStatus(status: Status, nowMs: number): string[] {
  if (status.runs.length === 0) return ['nothing has run yet; livehouse sync starts']
  const timeZone = status.timeZone ?? 'UTC'
  const minute = minuteIn(timeZone)
  const age = (at: Date) => `${formatAge(nowMs - at.getTime())} ago`
  const streamRows = status.streams.map(({ stream, rows, state }) => [
    stream,
    rows === null ? '–' : `${rows.isExact ? '' : '~'}${rows.rows.toLocaleString('en-US')}`,
    state?.lastLanded === undefined ? 'never' : age(state.lastLanded.at),
    state?.lastLanded?.proof ?? '–',
    state === undefined ? '–' : coverageOf(state),
    state === undefined ? '–' : formatProofs(state.partitions),
    state?.lastRunId ?? '–',
  ])
  const runRows = status.runs.map(({ runId, command, status: how, startedAt, finishedAt }) => [
    runId,
    command,
    how,
    `${minute(startedAt)} (${age(startedAt)})`,
    finishedAt === null ? '–' : formatDuration(finishedAt.getTime() - startedAt.getTime()),
  ])
  // What is accepted is no matter of repair, but never passes for proven.
  const accepted = shownAcceptances(status, nowMs).map((each) => {
    const [state, then] = isStanding(each, nowMs) ? ['accepted', ''] : ['expired', '; the next sync reads it again']
    return `~ ${state} (${each.acceptanceId}): ${describeAcceptance(each, timeZone)}${then}`
  })
  const { gone, quarantine, budget } = status
  const reasons = quarantine.map(({ stream, rows, mostCommonReason }) => [stream, rows, shorten(mostCommonReason)])
  const header = ['stream', 'rows', 'last landed', 'proof', 'covered until', 'partitions', 'run']
  const paragraphs = [
    formatTable(header, streamRows),
    formatTable(['run', 'command', 'status', 'started', 'took'], runRows),
    describeOpenPoints(status),
    gone.length === 0
      ? []
      : [`– not read, for the service does not know them (asked for once a day): channels ${gone.join(', ')}`],
    accepted,
    reasons.length === 0 ? ['quarantine: empty'] : formatTable(['quarantine', 'rows', 'most common reason'], reasons),
    [
      ...(budget ? [`calls left on ${onlyWhenNamed} today (${budget.serviceDay}): ${leftOf(budget)}`] : []),
      `Times are those of ${timeZone}.`,
    ],
  ]
  return paragraphs.filter((lines) => lines.length > 0).flatMap((lines, index) => (index > 0 ? ['', ...lines] : lines))
}

function coverageOf({ coveredUntil, leastCovered }: NonNullable<StreamStatus['state']>): string {
  if (leastCovered === null) return 'whole list'
  return coveredUntil === null ? `nothing of ${leastCovered}` : formatWallTime(coveredUntil).slice(0, 16)
}

/** Those that stand, and those that have expired while something still counts by them. */
function shownAcceptances({ acceptances }: Status, nowMs: number): readonly Acceptance[] {
  return acceptances.filter((each) => isStanding(each, nowMs) || each.isInUse)
}

function shorten(reason: string): string {
  return reason.length > 70 ? `${reason.slice(0, 69)}…` : reason
}

/** One line a stream that is older than it should be. */
export function describeStale(stale: readonly StreamStatus[], maxAge: string, nowMs: number): string[] {
  return stale.map(({ stream, state }) => {
    const landed = state?.lastLanded
    if (landed === undefined) return `✗ ${stream}: nothing of it has landed yet (--max-age ${maxAge})`
    const ageMs = nowMs - landed.at.getTime()
    if (ageMs >= 0) return `✗ ${stream}: last landed ${formatAge(ageMs)} ago, longer than ${maxAge}`
    const reason = "the service's clock was ahead, or this machine's is behind; see `livehouse doctor`, and sync again"
    return `✗ ${stream}: last landed ${formatAge(-ageMs)} ahead of now: ${reason}`
  })
}

/** The same for programs. */
export function statusObject(status: Status, stale: readonly StreamStatus[] | undefined, nowMs: number): object {
  const { budget } = status
  const streams = status.streams.map(({ stream, rows, state }) => {
    const partitions = Object.fromEntries(proofs.map((proof) => [proof, state?.partitions[proof] ?? 0]))
    const facts = {
      rows: rows?.rows ?? null,
      rows_are_estimated: rows?.isExact === false,
      last_run_id: state?.lastRunId ?? null,
      last_landed_at: state?.lastLanded?.at ?? null,
      last_proof: state?.lastLanded?.proof ?? null,
      covered_until: typeof state?.coveredUntil === 'number' ? formatWallTime(state.coveredUntil) : null,
      least_covered_partition: state?.leastCovered ?? null,
      partitions,
    }
    return [stream, facts]
  })
  const quarantine = status.quarantine.map(({ stream, rows, mostCommonReason }) => {
    return [stream, { rows, most_common_reason: mostCommonReason }]
  })
  return {
    time_zone: status.timeZone,
    streams: Object.fromEntries(streams),
    runs: status.runs.map(({ runId, command, status: how, startedAt, finishedAt }) => {
      return snakeCased({ runId, command, status: how, startedAt, finishedAt })
    }),
    quarantine: Object.fromEntries(quarantine),
    gaps: firstOf(status, 'gap').map(({ stream, partition, window }) => ({ stream, partition, ...boundsOf(window) })),
    gap_count: status.openCounts.gap,
    shortfalls: firstOf(status, 'problem').map(({ stream, partition, window, proof, reason }) => {
      return { stream, partition, ...boundsOf(window), proof, reason }
    }),
    shortfall_count: status.openCounts.problem,
    gone_channels: status.gone,
    acceptances: shownAcceptances(status, nowMs).map((each) => acceptanceObject(each, nowMs)),
    v1_calls: budget && { ...snakeCased(budget), scopes: budget.scopes.map(snakeCased) },
    stale: stale?.map(({ stream }) => stream) ?? null,
  }
}

function boundsOf(window: Window | undefined) {
  return { from: window ? formatWallTime(window.from) : null, to: window ? formatWallTime(window.to) : null }
}

/** Gaps and shortfalls that are named one by one. */
const MOST_NAMED = 10

/** Those of one kind that are named. */
function firstOf({ open }: Pick<OpenReadings, 'open'>, kind: OpenReading['kind']): readonly OpenReading[] {
  return open.filter((reading) => reading.kind === kind).slice(0, MOST_NAMED)
}

/** What is not covered or not proven, and how it is repaired; nothing where all is well. */
function describeOpenPoints(found: Pick<OpenReadings, 'open' | 'openCounts'>): string[] {
  const [gaps, shortfalls] = [firstOf(found, 'gap'), firstOf(found, 'problem')]
  const { gap, problem } = found.openCounts
  return [
    ...shortfalls.map((reading) => `✗ ${placeOf(reading, '')}: ${reading.proof}: ${reading.reason ?? '–'}`),
    ...more(problem - shortfalls.length),
    ...gaps.map((reading) => `✗ ${placeOf(reading, ': not covered')}`),
    ...more(gap - gaps.length),
    ...(gap + problem === 0 ? [] : [...describeRepair([...gaps, ...shortfalls])]),
  ]
}

function placeOf({ stream, partition, window }: OpenReading, what: string): string {
  const range = window && ` from ${minute(window.from)} to ${minute(window.to)}`
  return `${stream} ${partition}${what}${range ?? ''}`
}

/** A stream that has to be named is not among those of the next sync. */
function describeRepair(found: readonly OpenReading[]): string[] {
  const shown = new Set(found.map(({ stream }) => stream))
  const named = [...shown].filter((stream) => defaultStreams.every(({ name }) => name !== stream))
  const what = named.length === 0 ? 'all of this' : 'the rest of this'
  return [
    ...named.map(
      (stream) =>
        `${stream} is read only where it is named: by livehouse sync --streams ${stream}, or by the job v1-history.`,
    ),
    ...(named.length === shown.size
      ? []
      : [`The next livehouse sync reads ${what}; livehouse backfill --only-gaps fills a range at once.`]),
  ]
}

function minute(time: WallTime): string {
  return formatWallTime(time).slice(0, 16)
}

function more(count: number): string[] {
  return count > 0 ? [`  … and ${count} more; livehouse ledger shows them`] : []
}
