import { proofs } from '../../core/slice.ts'
import { wallTimeAt } from '../../core/wall-clock.ts'
import { addProofs, type LedgerUnit } from '../../ledger/latest-readings.ts'
import { smallestLeft } from '../../ledger/call-budget.ts'
import { type Finding, lastReading, type Verdict } from '../verdict.ts'
import type { Facts } from '../facts.ts'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/**
 * Every metric of livehouse. Labels are of bounded sets only: streams, endpoints, proofs, outcomes, commands, jobs;
 * never a channel, a viewer or a message.
 */
export function defineMetrics(registry: Registry) {
  const registers = [registry]
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name: `livehouse_${name}`, help, labelNames, registers })
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `livehouse_${name}`, help, labelNames, registers })
  return {
    calls: counter('calls_total', 'Calls that this process made to the service, repeated ones too', [
      'endpoint',
      'outcome',
    ]),
    refusals: counter('refusals_total', 'Calls of this process that the service refused because of their number', [
      'endpoint',
    ]),
    callSeconds: new Histogram({
      name: 'livehouse_call_duration_seconds',
      help: 'How long the answered calls of this process took, by endpoint',
      labelNames: ['endpoint'],
      buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    runs: counter('runs_total', 'Runs of any process that ended since this one began', ['command', 'status']),
    runCalls: counter('run_calls_total', 'Calls of the runs that ended', ['stream']),
    runRetries: counter('run_retries_total', 'Of these, repeated ones', ['stream']),
    rows: counter('rows_total', 'Rows of the runs that ended, by what became of them', ['stream', 'outcome']),
    slices: counter('slices_total', 'Slices of the runs that ended, by how complete they are known to be', [
      'stream',
      'proof',
    ]),
    lastRunStatus: gauge('last_run_status', '1 for how the last run that ended did end', ['status']),
    lastRunEnd: gauge('last_run_end_timestamp_seconds', 'When the last run ended'),
    sinceVerified: gauge(
      'seconds_since_last_verified_slice',
      'Age of the latest slice that was proven by the total of the service; streams without totals have none',
      ['stream'],
    ),
    sinceLanded: gauge(
      'seconds_since_last_complete_read',
      'How long ago the part of a stream that was not read for longest was last read to its end; +Inf where one never was',
      ['stream'],
    ),
    behind: gauge(
      'seconds_behind',
      'How far the end of what is complete lies behind now, of the part that is furthest behind; +Inf where one was never read',
      ['stream'],
    ),
    partitions: gauge('partitions', 'Parts of active channels by the proof of their latest slice', ['stream', 'proof']),
    gaps: gauge('gaps', 'Ranges inside what is covered that are not', ['stream']),
    problems: gauge('open_problems', 'Readings that fell short or failed and were not made good', ['stream']),
    quarantined: gauge('quarantined_rows', 'Rows that cannot be read', ['stream']),
    channels: gauge('channels', 'Channels of the warehouse by state', ['state']),
    isComplete: gauge('is_complete', '1 while all that is read is fresh, without gaps and proven as far as it can be'),
    budgetCalls: gauge('v1_budget_calls', 'Calls that version 1 of the watch records allows a day'),
    budgetLeft: gauge('v1_budget_left', 'Of these, what is left today; where each channel has its own, the least'),
    jobNext: gauge('job_next_run_timestamp_seconds', 'When a job is due next', ['job']),
    jobLast: gauge('job_last_run_timestamp_seconds', 'When a job was last begun', ['job', 'status']),
    jobRunning: gauge('job_running', '1 while a process runs the job', ['job']),
    databaseUp: gauge('database_up', '1 while the database answers'),
    factsAge: gauge('facts_age_seconds', 'How old the numbers from the database are'),
    info: gauge('build_info', 'The version that runs', ['version']),
  } as const
}

export type Metrics = ReturnType<typeof defineMetrics>

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
  for (const stream of verdict.findings.flatMap(unreadStreams)) {
    for (const gauge of [metrics.behind, metrics.sinceLanded]) setOrRemove(gauge, stream, unread)
  }
  for (const { stream, items } of facts.quarantine.reasons) metrics.quarantined.inc({ stream }, items)
  for (const state of ['active', 'retired', 'gone'] as const) {
    metrics.channels.set({ state }, facts.channels.filter((channel) => channel.state === state).length)
  }
  const last = lastReading(facts.runs)
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

/** The streams of which some part that should have been read never was. */
function unreadStreams({ kind, streams }: Finding): readonly string[] {
  return kind === 'unread' ? streams : []
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
