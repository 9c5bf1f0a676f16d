import type { Kysely } from 'kysely'
import type { Database } from '../../../db/database.ts'
import { readRunReports, type RunReport } from '../../../state/run-reports.ts'
import { hasEnded } from '../../../state/runs.ts'
import type { Metrics } from './define-metrics.ts'

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
