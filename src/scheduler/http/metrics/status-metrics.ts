import type { Kysely } from 'kysely'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Database } from '../../../db/database.ts'
import type { Known } from '../facts-source.ts'
import type { Verdict } from '../verdict.ts'
import { createRunCounter } from './count-runs.ts'
import { defineMetrics, type Metrics } from './define-metrics.ts'
import { showFacts } from './show-facts.ts'

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
  /** All of it as text. `verdict`: of facts that are known; `known.error`: that the database does not answer. */
  readonly render: (known: Known, verdict: Verdict | undefined, nowMs: number) => Promise<string>
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
    render: async ({ facts, error }, verdict, nowMs) => {
      metrics.databaseUp.set(error === undefined ? 1 : 0)
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
