import type { Kysely } from 'kysely'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Database } from '../../store/database.ts'
import { readRunReports, type RunReport } from '../../ledger/run-reports.ts'
import { hasEnded } from '../../ledger/runs.ts'
import type { Verdict } from '../verdict.ts'
import type { Facts } from '../facts.ts'
import { showFacts, defineMetrics, type Metrics } from './define-metrics.ts'

/** A call as the client tells of it. */
export interface CountedCall {
  readonly endpoint: string
  readonly outcome: string
  readonly elapsedMs: number
}

/** The numbers of this process and of the database, for Prometheus. */
export interface StatusMetrics {
  readonly contentType: string
  readonly onCall: (call: CountedCall) => void
  /** Counts the runs that have ended. While the database is away the counters stand. Never throws. */
  readonly count: () => Promise<void>
  /** All of it as text. `verdict`: of facts that are known. */
  readonly render: (known: ShownMetrics) => Promise<string>
}

export interface ShownMetrics {
  readonly facts: Facts | undefined
  readonly verdict: Verdict | undefined
  readonly isDatabaseUp: boolean
  readonly nowMs: number
}

/** What `runs` may hold as its command; jobs come as `run NAME`. */
export interface MetricsOptions {
  readonly db: Kysely<Database>
  readonly version: string
  readonly commands: readonly string[]
}

/** Metrics in a registry of their own: two servers in one process do not meet. */
export function createStatusMetrics({ db, version, commands }: MetricsOptions): StatusMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const metrics = defineMetrics(registry)
  metrics.info.set({ version }, 1)
  // The library begins with 0, which would tell of an empty budget and of a night that is not complete.
  const { lastRunEnd, isComplete, budgetCalls, budgetLeft, factsAge } = metrics
  for (const unknown of [lastRunEnd, isComplete, budgetCalls, budgetLeft, factsAge]) unknown.remove()
  const countRuns = createRunCounter(db, metrics, new Set(commands))
  let counting: Promise<void> | undefined
  return {
    contentType: registry.contentType,
    onCall: (call) => countCall(metrics, call),
    count: async () => {
      // One at a time: two at once would count the same runs twice.
      counting ??= countRuns()
        .catch(() => {})
        .finally(() => (counting = undefined))
      await counting
    },
    render: async ({ facts, verdict, isDatabaseUp, nowMs }) => {
      metrics.databaseUp.set(isDatabaseUp ? 1 : 0)
      if (facts !== undefined && verdict !== undefined) showFacts(metrics, facts, verdict, nowMs)
      return await registry.metrics()
    },
  }
}

function countCall({ calls, refusals, callSeconds }: Metrics, { endpoint, outcome, elapsedMs }: CountedCall): void {
  calls.inc({ endpoint, outcome })
  if (outcome === 'api.rateLimited') refusals.inc({ endpoint })
  if (outcome === 'ok') callSeconds.observe({ endpoint }, elapsedMs / 1000)
}

/** Adds the runs that have ended since the last time, of whichever process, to the counters. */
export type CountRuns = () => Promise<void>

const MOST_AT_ONCE = 500
/** Runs whose end is waited for; a killed one never ends. */
const MOST_OPEN = 50

/** The first time only remembers where the record is: counters begin at zero. */
export function createRunCounter(db: Kysely<Database>, metrics: Metrics, commands: ReadonlySet<string>): CountRuns {
  let seen: { readonly runId: string; readonly open: readonly string[] } | undefined
  return async () => {
    if (seen === undefined) {
      const runs = await readRunReports(db, { kind: 'last', count: MOST_OPEN })
      seen = { runId: runs[0]?.runId ?? '0', open: openOf(runs) }
      return
    }
    const runs = await readRunReports(db, { kind: 'since', ...seen, count: MOST_AT_ONCE })
    const newest = runs.reduce((latest, { runId }) => (BigInt(runId) > BigInt(latest) ? runId : latest), seen.runId)
    seen = { runId: newest, open: openOf(runs) }
    for (const run of runs) if (hasEnded(run)) add(metrics, run, commands)
  }
}

function openOf(runs: readonly RunReport[]): readonly string[] {
  return runs.flatMap((run) => (hasEnded(run) ? [] : [run.runId])).slice(0, MOST_OPEN)
}

function add(metrics: Metrics, { command, status, streams }: RunReport, commands: ReadonlySet<string>): void {
  // The record may hold commands of other versions; a label must not grow with it.
  metrics.runs.inc({ command: commands.has(command) ? command : 'other', status })
  for (const { stream, counts, slices } of streams) {
    const { extracted: _, calls, retries, ...rows } = counts
    metrics.runCalls.inc({ stream }, calls)
    metrics.runRetries.inc({ stream }, retries)
    for (const [outcome, count] of Object.entries(rows)) metrics.rows.inc({ stream, outcome }, count)
    for (const [proof, count] of Object.entries(slices)) metrics.slices.inc({ stream, proof }, count)
  }
}
