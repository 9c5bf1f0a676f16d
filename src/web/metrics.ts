import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { findLastReading } from '../app/judge-health.ts'
import type { OnCall } from '../core/page.ts'
import { wallTimeAt } from '../core/wall-clock.ts'
import { fewestCallsLeft } from '../ledger/call-budget.ts'
import type { Facts, FactsState } from './facts.ts'

interface MetricsInput extends Pick<FactsState, 'facts'> {
  readonly isDatabaseUp: boolean
  readonly nowMs: number
}

/** Creates the metrics in a registry of their own, so that two servers in one process share none. */
export function createStatusMetrics(version: string) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const metrics = defineMetrics(registry)
  metrics.info.set({ version }, 1)
  // Gauges start at 0, which would say that the budget is spent and last night is not complete.
  for (const gauge of [metrics.isComplete, metrics.budgetLeft, metrics.factsAge]) gauge.remove()
  return {
    onCall: (({ endpoint, outcome, elapsedMs }) => {
      metrics.calls.inc({ endpoint, outcome })
      if (outcome === 'api.rateLimited') metrics.refusals.inc({ endpoint })
      if (outcome === 'ok') metrics.callSeconds.observe({ endpoint }, elapsedMs / 1000)
    }) satisfies OnCall,
    render: async ({ facts, isDatabaseUp, nowMs }: MetricsInput) => {
      metrics.databaseUp.set(isDatabaseUp ? 1 : 0)
      if (facts !== undefined) showFacts(metrics, facts, nowMs)
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}

/**
 * Defines every metric of livehouse. The values of labels come from bounded sets only: streams, endpoints, proofs,
 * outcomes, jobs; never channels, viewers or messages.
 */
function defineMetrics(registry: Registry) {
  const registers = [registry]
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name: `livehouse_${name}`, help, labelNames, registers })
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `livehouse_${name}`, help, labelNames, registers })
  return {
    calls: counter('calls_total', 'Calls of this process to the service, retries included', ['endpoint', 'outcome']),
    refusals: counter('refusals_total', 'Calls of this process that the rate limit refused', ['endpoint']),
    callSeconds: new Histogram({
      name: 'livehouse_call_duration_seconds',
      help: 'How long the successful calls of this process took, by endpoint',
      labelNames: ['endpoint'],
      buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    lastRunStatus: gauge('last_run_status', '1 for the status of the last run that has ended', ['status']),
    lastRunRows: gauge('last_run_rows', 'Rows of the last run, by what became of them', ['stream', 'outcome']),
    lastRunSlices: gauge('last_run_slices', 'Slices of the last run, by their proof', ['stream', 'proof']),
    sinceVerified: gauge(
      'seconds_since_last_verified_slice',
      'Age of the latest slice that the total of the service has proven; streams without totals have none',
      ['stream'],
    ),
    behind: gauge(
      'seconds_behind',
      'How far the part that is furthest behind lags behind now; +Inf if a part was never read',
      ['stream'],
    ),
    gaps: gauge('gaps', 'Ranges that were not read between ranges that were', ['stream']),
    problems: gauge('open_problems', 'Readings that fell short or failed, with no success since', ['stream']),
    quarantined: gauge('quarantined_rows', 'Rows that cannot be read; counted up to some 100,000 in all', ['stream']),
    channels: gauge('channels', 'Channels of the warehouse by state', ['state']),
    isComplete: gauge('is_complete', '1 while every stream is fresh, without gaps and proven as far as it can be'),
    budgetLeft: gauge('v1_budget_left', 'Version 1 calls left today; if each channel has its own, the fewest'),
    jobNext: gauge('job_next_run_timestamp_seconds', 'When a job is due next', ['job']),
    databaseUp: gauge('database_up', '1 while the database answers'),
    factsAge: gauge('facts_age_seconds', 'How old the figures from the database are'),
    info: gauge('build_info', 'The running version', ['version']),
  } as const
}

type Metrics = ReturnType<typeof defineMetrics>

const outcomes = ['inserted', 'updated', 'unchanged', 'removed', 'quarantined', 'degraded'] as const

/** Sets the gauges from the facts, and drops series that no longer have a value. */
function showFacts(metrics: Metrics, facts: Facts, nowMs: number): void {
  const { lastRunStatus, lastRunRows, lastRunSlices, sinceVerified, behind, gaps, problems } = metrics
  const { quarantined, channels, jobNext } = metrics
  const ofRun = [lastRunStatus, lastRunRows, lastRunSlices]
  for (const gauge of [...ofRun, sinceVerified, behind, gaps, problems, quarantined, channels, jobNext]) gauge.reset()
  const { judged, verdict } = facts
  metrics.isComplete.set(verdict.status === 'complete' ? 1 : 0)
  metrics.factsAge.set((nowMs - facts.readAtMs) / 1000)
  metrics.budgetLeft.set(fewestCallsLeft(facts.budget))
  const now = wallTimeAt(nowMs, facts.timeZone)
  for (const [stream, units] of Map.groupBy(judged, (unit) => unit.stream)) {
    const verified = units.flatMap(({ verifiedAt }) => verifiedAt?.getTime() ?? [])
    if (verified.length > 0) sinceVerified.set({ stream }, (nowMs - Math.max(...verified)) / 1000)
    const reaches = units.filter(({ isKept }) => isKept).map(({ reach }) => reach ?? -Infinity)
    // During the first sync a part that was never read is not behind yet.
    const isKnown = reaches.length > 0 && (verdict.status !== 'first' || !reaches.includes(-Infinity))
    if (isKnown) behind.set({ stream }, Math.max(0, now - Math.min(...reaches)))
    for (const { gaps: count } of units) gaps.inc({ stream }, count)
    problems.set({ stream }, 0)
  }
  for (const { stream, readings } of facts.problems) problems.inc({ stream }, readings)
  for (const { stream, items } of facts.quarantine) quarantined.inc({ stream }, items)
  for (const state of ['active', 'retired', 'gone'] as const)
    channels.set({ state }, facts.channels.filter((channel) => channel.state === state).length)
  for (const { name, next } of facts.jobs) if (next !== undefined) jobNext.set({ job: name }, next.getTime() / 1000)
  const run = findLastReading(facts.runs)
  if (run !== undefined) lastRunStatus.set({ status: run.status }, 1)
  for (const { stream, counts, slices } of run?.streams ?? []) {
    for (const outcome of outcomes) lastRunRows.set({ stream, outcome }, counts[outcome])
    for (const [proof, count] of Object.entries(slices)) lastRunSlices.set({ stream, proof }, count)
  }
}
