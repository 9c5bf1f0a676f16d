import { proofs } from '../../core/slice.ts'
import { wallTimeAt } from '../../core/wall-clock.ts'
import { addProofs, type LedgerUnit } from '../../ledger/latest-readings.ts'
import { smallestLeft } from '../../ledger/call-budget.ts'
import { hasEnded } from '../../ledger/runs.ts'
import type { Facts } from '../facts.ts'
import type { Finding, Verdict } from '../verdict.ts'
import type { Metrics } from './define-metrics.ts'

/** Sets the gauges to what is known at `nowMs`. What is no longer there loses its labels. */
export function showFacts(metrics: Metrics, facts: Facts, verdict: Verdict, nowMs: number): void {
  for (const gauge of [
    metrics.lastRunStatus,
    metrics.sinceVerified,
    metrics.sinceLanded,
    metrics.behind,
    metrics.partitions,
    metrics.gaps,
    metrics.problems,
    metrics.quarantined,
    metrics.channels,
    metrics.jobNext,
    metrics.jobLast,
    metrics.jobRunning,
  ]) {
    gauge.reset()
  }
  const isComplete = verdict.status === 'complete'
  metrics.isComplete.set(isComplete ? 1 : 0)
  metrics.factsAge.set((nowMs - facts.readAtMs) / 1000)
  metrics.budgetCalls.set(facts.budget.budget)
  metrics.budgetLeft.set(smallestLeft(facts.budget))
  // While the first sync is under way, what was never read is not behind yet.
  const unread = verdict.status === 'first' ? undefined : Infinity
  for (const [stream, units] of Map.groupBy(facts.units, ({ stream }) => stream)) {
    showStream(metrics, facts, { stream, units, kept: verdict.kept, unread }, nowMs)
  }
  for (const stream of verdict.findings.flatMap(unreadStream)) {
    for (const gauge of [metrics.behind, metrics.sinceLanded]) setOrRemove(gauge, stream, unread)
  }
  for (const { stream, items } of facts.quarantine.reasons) metrics.quarantined.inc({ stream }, items)
  for (const state of ['active', 'retired', 'gone'] as const) {
    metrics.channels.set({ state }, facts.channels.filter((channel) => channel.state === state).length)
  }
  const last = facts.runs.find(hasEnded)
  if (last?.finishedAt) {
    metrics.lastRunStatus.set({ status: last.status }, 1)
    metrics.lastRunEnd.set(last.finishedAt.getTime() / 1000)
  }
  for (const { name, next, last: latest, isRunning } of facts.jobs) {
    metrics.jobRunning.set({ job: name }, isRunning ? 1 : 0)
    if (next !== undefined) metrics.jobNext.set({ job: name }, next.getTime() / 1000)
    if (latest !== undefined)
      metrics.jobLast.set({ job: name, status: latest.status }, latest.startedAt.getTime() / 1000)
  }
}

/** The stream of which some part that should have been read never was. */
function unreadStream(finding: Finding): string[] {
  const isUnread = finding.kind === 'unread' || (finding.kind === 'late' && finding.since === null)
  return isUnread ? [finding.stream] : []
}

/** What is not known has no series: a zero would say that all is well. */
function setOrRemove(gauge: Metrics['behind'], stream: string, value: number | undefined): void {
  if (value === undefined) gauge.remove({ stream })
  else gauge.set({ stream }, value)
}

interface ShownStream {
  readonly stream: string
  readonly units: readonly LedgerUnit[]
  /** Of all streams, those that somebody is still to read. */
  readonly kept: ReadonlySet<LedgerUnit>
  /** How far behind is what was never read. */
  readonly unread: number | undefined
}

function showStream(
  metrics: Metrics,
  { problems, timeZone }: Facts,
  { stream, units, kept: keptOfAll, unread }: ShownStream,
  nowMs: number,
): void {
  const verified = units.flatMap(({ verifiedAt }) => verifiedAt?.getTime() ?? [])
  if (verified.length > 0) metrics.sinceVerified.set({ stream }, (nowMs - Math.max(...verified)) / 1000)
  const kept = units.filter((unit) => keptOfAll.has(unit))
  const landed = kept.flatMap(({ landedAt }) => landedAt?.getTime() ?? [])
  // Nobody is to read it any more: it is not behind.
  const never = kept.length === 0 ? undefined : unread
  const isLanded = kept.length > 0 && landed.length === kept.length
  setOrRemove(metrics.sinceLanded, stream, isLanded ? (nowMs - Math.min(...landed)) / 1000 : never)
  const reaches = kept.flatMap(({ reach }) => reach ?? [])
  const isReached = kept.length > 0 && reaches.length === kept.length
  const behind = isReached ? Math.max(0, wallTimeAt(nowMs, timeZone) - Math.min(...reaches)) : never
  setOrRemove(metrics.behind, stream, behind)
  const counted = addProofs(units)
  for (const proof of proofs) metrics.partitions.set({ stream, proof }, counted[proof] ?? 0)
  metrics.gaps.set(
    { stream },
    units.reduce((sum, { gaps }) => sum + gaps, 0),
  )
  metrics.problems.set(
    { stream },
    problems.reduce((sum, each) => sum + (each.stream === stream ? each.readings : 0), 0),
  )
}
