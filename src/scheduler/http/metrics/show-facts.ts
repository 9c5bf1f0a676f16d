import { proofs } from '../../../core/slice.ts'
import { wallTimeAt } from '../../../core/wall-clock.ts'
import type { LedgerUnit } from '../../../state/read-ledger-overview.ts'
import { addProofs } from '../add-proofs.ts'
import type { Facts } from '../facts.ts'
import type { Verdict } from '../verdict.ts'
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
  metrics.budgetCalls.set(facts.budget.calls)
  metrics.budgetLeft.set(facts.budget.left)
  for (const [stream, units] of Map.groupBy(facts.units, ({ stream }) => stream)) {
    showStream(metrics, facts, stream, units, verdict.kept, nowMs)
  }
  for (const { stream, items } of facts.quarantine.reasons) metrics.quarantined.inc({ stream }, items)
  for (const state of ['active', 'retired', 'gone'] as const) {
    metrics.channels.set({ state }, facts.channels.filter((channel) => channel.state === state).length)
  }
  const last = facts.runs.find(({ status }) => status !== 'running')
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

function showStream(
  metrics: Metrics,
  { open, timeZone }: Facts,
  stream: string,
  units: readonly LedgerUnit[],
  keptOfAll: ReadonlySet<LedgerUnit>,
  nowMs: number,
): void {
  const verified = units.flatMap(({ verifiedAt }) => verifiedAt?.getTime() ?? [])
  if (verified.length > 0) metrics.sinceVerified.set({ stream }, (nowMs - Math.max(...verified)) / 1000)
  const kept = units.filter((unit) => keptOfAll.has(unit))
  const landed = kept.flatMap(({ landedAt }) => landedAt?.getTime() ?? [])
  if (kept.length > 0 && landed.length === kept.length)
    metrics.sinceLanded.set({ stream }, (nowMs - Math.min(...landed)) / 1000)
  const reaches = kept.flatMap(({ isWindowed, until, landedAt }) => {
    if (isWindowed) return until ?? []
    return landedAt === null ? [] : wallTimeAt(landedAt.getTime(), timeZone)
  })
  if (kept.length > 0 && reaches.length === kept.length) {
    metrics.behind.set({ stream }, Math.max(0, wallTimeAt(nowMs, timeZone) - Math.min(...reaches)))
  }
  const counted = addProofs(units)
  for (const proof of proofs) metrics.partitions.set({ stream, proof }, counted[proof] ?? 0)
  metrics.gaps.set(
    { stream },
    units.reduce((sum, { gaps }) => sum + gaps, 0),
  )
  metrics.problems.set(
    { stream },
    open.filter((reading) => reading.kind === 'problem' && reading.stream === stream).length,
  )
}
