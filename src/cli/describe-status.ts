import { judgeStreams } from '../app/judge-health.ts'
import { boundsOf } from '../app/outcome.ts'
import type { findStale, Health } from '../app/read-health.ts'
import { proofs } from '../core/slice.ts'
import { formatWallTime, type WallTime } from '../core/wall-clock.ts'
import type { CallBudget } from '../ledger/call-budget.ts'
import type { LedgerUnit } from '../ledger/latest-readings.ts'
import type { OpenReading } from '../ledger/open-readings.ts'
import type { QuarantineGroup } from '../ledger/quarantine/quarantine-reasons.ts'
import type { Acceptance } from '../ledger/slices/acceptances.ts'
import { onlyWhenNamed } from '../streams/registry.ts'
import { acceptanceObject, describeAcceptance, isInForce } from './describe-acceptance.ts'
import { formatAge, formatDuration, formatMinuteIn, formatProofs, formatTable, toSnakeCase } from './format.ts'

/**
 * Describes the state of the warehouse. Times are those of the service's wall clock.
 * @param health undefined for a database without a schema
 */
export function describeStatus(health: Health | undefined, nowMs: number): string[] {
  if (health === undefined || health.runs.length === 0) return ['nothing has run yet; start with livehouse sync']
  const { timeZone, hasSource, budget, quarantine } = health
  const minute = formatMinuteIn(timeZone)
  const age = (at: Date) => `${formatAge(nowMs - at.getTime())} ago`
  const streamRows = health.streams.map(({ stream, rows, lastRunId, last, least, proofs: ended }) => [
    stream,
    rows === null ? '–' : `${rows.isExact ? '' : '~'}${rows.rows.toLocaleString('en-US')}`,
    last?.lastLandedAt ? age(last.lastLandedAt) : 'never',
    last?.lastLandedProof ?? '–',
    lastRunId === null ? '–' : coverageOf(least),
    lastRunId === null ? '–' : formatProofs(ended),
    lastRunId ?? '–',
  ])
  const runs = health.runs.slice(0, LAST_RUNS)
  const runRows = runs.map(({ runId, command, status: how, startedAt, finishedAt }) => [
    runId,
    command,
    how,
    `${minute(startedAt)} (${age(startedAt)})`,
    finishedAt === null ? '–' : formatDuration(finishedAt.getTime() - startedAt.getTime()),
  ])
  // An accepted shortfall needs no repair, but is never shown as proven.
  const accepted = selectAcceptances(health, nowMs).map((each) => {
    const [state, then] = isInForce(each, nowMs) ? ['accepted', ''] : ['expired', '; the next sync reads it again']
    return `~ ${state} (${each.acceptanceId}): ${describeAcceptance(each, timeZone)}${then}`
  })
  const gone = goneChannels(health).join(', ')
  const reasons = countByStream(quarantine).map(({ stream, rows, reason }) => [
    stream,
    rows,
    reason.replace(/^(.{69}).{2,}$/s, '$1…'),
  ])
  const paragraphs = [
    formatTable(['stream', 'rows', 'last landed', 'proof', 'covered until', 'partitions', 'run'], streamRows),
    formatTable(['run', 'command', 'status', 'started', 'took'], runRows),
    runs.flatMap(({ runId, ...run }) => (run.status === 'failed' ? [`run ${runId} failed: ${run.firstError}`] : [])),
    describeOpenPoints(health),
    gone === '' ? [] : [`– not read, as the service does not know them (checked once a day): channels ${gone}`],
    accepted,
    reasons.length === 0 ? ['quarantine: empty'] : formatTable(['quarantine', 'rows', 'most common reason'], reasons),
    [
      ...(hasSource ? [`calls left on ${onlyWhenNamed} today (${budget.serviceDay}): ${callsLeft(budget)}`] : []),
      `Times are those of ${timeZone}.`,
    ],
  ]
  return paragraphs.filter((lines) => lines.length > 0).flatMap((lines, index) => (index > 0 ? ['', ...lines] : lines))
}

const LAST_RUNS = 5

/** Shows the time even at midnight, as a date alone would seem to include its day. */
const toMinute = (at: WallTime) => formatWallTime(at).slice(0, 16)

function coverageOf(least: LedgerUnit | undefined): string {
  if (least === undefined) return 'whole list'
  return least.until === null ? `nothing of ${least.leastCovered}` : toMinute(least.until)
}

/** The calls left today: `7 of 10`; with a budget per channel, those that have used some first. */
function callsLeft({ budget, scope, scopes }: CallBudget): string {
  const note = ' (the service has refused a further one)'
  const refused = ({ spentAt }: CallBudget['scopes'][number]) => (spentAt === null ? '' : note)
  const account = scopes.find((each) => each.scope === 'account')
  if (scope === 'account') return account ? `${account.left} of ${budget}${refused(account)}` : `${budget} of ${budget}`
  const named = scopes.filter((each) => each !== account)
  const parts = named.map((each) => `${each.scope} ${each.left} of ${budget}${refused(each)}`)
  const others = [`${named.length === 0 ? 'each' : 'each other'} channel ${account?.left ?? budget}`]
  return [...parts, ...others].join(', ')
}

/** Channels that the service no longer knows. */
function goneChannels({ channels }: Health): readonly string[] {
  return channels.flatMap(({ channelId, state }) => (state === 'gone' ? [channelId] : []))
}

/** The acceptances in force, and expired ones by which slices still count as accepted. */
function selectAcceptances({ acceptances }: Health, nowMs: number): readonly Acceptance[] {
  return acceptances.filter((each) => isInForce(each, nowMs) || each.isInUse)
}

/** The quarantined rows of each stream, the most first, with the most common reason. */
function countByStream(groups: readonly QuarantineGroup[]) {
  const counts = [...Map.groupBy(groups, ({ stream }) => stream)].map(([stream, [first, ...more]]) => {
    const rows = more.reduce((sum, { items }) => sum + items, first?.items ?? 0)
    return { stream, rows, reason: first?.reason ?? '' }
  })
  return counts.toSorted((a, b) => b.rows - a.rows)
}

/** One line for each stale stream, about the channel that landed the longest ago. */
export function describeStale(stale: ReturnType<typeof findStale>, maxAge: string, nowMs: number): string[] {
  return stale.map(({ stream, channelId, at }) => {
    const channel = channelId ? ` of channel ${channelId}` : ''
    if (!at) return `✗ ${stream}: nothing${channel || ' of it'} has landed yet (--max-age ${maxAge})`
    const ageMs = nowMs - at.getTime()
    if (ageMs >= 0) return `✗ ${stream}${channel}: last landed ${formatAge(ageMs)} ago, longer than ${maxAge}`
    const reason = "the service's clock was ahead, or this machine's is behind; see `livehouse doctor`, and sync again"
    return `✗ ${stream}${channel}: last landed ${formatAge(-ageMs)} ahead of now: ${reason}`
  })
}

/** The JSON object of `status`. */
export function statusObject(
  health: Health | undefined,
  stale: ReturnType<typeof findStale> | undefined,
  nowMs: number,
): object {
  const { open = [], openCounts, runs = [], budget, hasSource = false, quarantine = [] } = health ?? {}
  const streams = (health?.streams ?? judgeStreams()).map(({ stream, rows, lastRunId, last, least, proofs: ended }) => {
    const facts = {
      rows: rows?.rows ?? null,
      rows_are_estimated: rows?.isExact === false,
      last_run_id: lastRunId,
      last_landed_at: last?.lastLandedAt ?? null,
      last_proof: last?.lastLandedProof ?? null,
      covered_until: typeof least?.until === 'number' ? formatWallTime(least.until) : null,
      least_covered_partition: least?.leastCovered ?? null,
      partitions: Object.fromEntries(proofs.map((proof) => [proof, ended[proof] ?? 0])),
    }
    return [stream, facts]
  })
  const reasons = countByStream(quarantine).map(({ stream, rows, reason }) => {
    return [stream, { rows, most_common_reason: reason }]
  })
  return {
    time_zone: hasSource ? health?.timeZone : null,
    streams: Object.fromEntries(streams),
    runs: runs.slice(0, LAST_RUNS).map(({ runId, command, status: how, startedAt, finishedAt, firstError }) => {
      return toSnakeCase({ runId, command, status: how, startedAt, finishedAt, firstError })
    }),
    quarantine: Object.fromEntries(reasons),
    gaps: firstOf(open, 'gap').map(({ stream, partition, window }) => ({ stream, partition, ...boundsOf(window) })),
    gap_count: openCounts?.gap ?? 0,
    shortfalls: firstOf(open, 'problem').map(({ stream, partition, window, proof, reason }) => {
      return { stream, partition, ...boundsOf(window), proof, reason }
    }),
    shortfall_count: openCounts?.problem ?? 0,
    gone_channels: health ? goneChannels(health) : [],
    acceptances: health ? selectAcceptances(health, nowMs).map((each) => acceptanceObject(each, nowMs)) : [],
    v1_calls: hasSource && budget ? { ...toSnakeCase(budget), scopes: budget.scopes.map(toSnakeCase) } : null,
    stale: stale?.map(({ stream }) => stream) ?? null,
  }
}

const MAX_NAMED = 10

function firstOf(open: readonly OpenReading[], kind: OpenReading['kind']): readonly OpenReading[] {
  return open.filter((reading) => reading.kind === kind).slice(0, MAX_NAMED)
}

const REPAIR =
  'The next livehouse sync reads what is not covered from LIVEHOUSE_HISTORY_FROM on, ' +
  `${onlyWhenNamed} only where it is named; livehouse backfill reads a range again at once, and livehouse ledger ` +
  'forget drops what was read of it in vain.'

/** Describes what is not covered or not proven, and how to repair it; empty if all is well. */
function describeOpenPoints({ open, openCounts: { gap, problem } }: Health): string[] {
  const [gaps, shortfalls] = [firstOf(open, 'gap'), firstOf(open, 'problem')]
  return [
    ...shortfalls.map((reading) => `✗ ${describePlace(reading, '')}: ${reading.proof}: ${reading.reason ?? '–'}`),
    ...describeMore(problem - shortfalls.length),
    ...gaps.map((reading) => `✗ ${describePlace(reading, ': not covered')}`),
    ...describeMore(gap - gaps.length),
    ...(gap + problem === 0 ? [] : [REPAIR]),
  ]
}

function describePlace({ stream, partition, window }: OpenReading, what: string): string {
  const range = window && ` from ${toMinute(window.from)} to ${toMinute(window.to)}`
  return `${stream} ${partition}${what}${range ?? ''}`
}

function describeMore(count: number): string[] {
  return count > 0 ? [`  … and ${count} more; livehouse ledger shows them`] : []
}
