import type { RunProblem } from '../core/outcome.ts'
import { noCounts, noSlices } from '../core/slice.ts'
import { readSourceFacts, saveSourceFacts } from '../ledger/source.ts'
import type { Db } from '../store/database.ts'
import { allStreams } from '../streams/registry.ts'
import { probe } from '../sync/probe.ts'
import type { AppContext } from './context.ts'
import { claimOnFirstPage, openConnection, type RunSettings } from './open-connection.ts'
import { recordRun } from './record-run.ts'

/**
 * Finds out what the specification leaves open and stores it, as a recorded run.
 * @returns the outcome with all known facts, earlier ones included
 */
export async function runProbe(context: AppContext, settings: RunSettings, db: Db) {
  const recorded = await recordRun(context, { db, command: 'probe', parameters: {} }, async ({ runId, signal }) => {
    const onFirstPage = await claimOnFirstPage(context, settings, db)
    await using connection = openConnection({ ...context, signal }, settings.service, db, { onFirstPage })
    const { facts, calls, failures } = await probe(connection.ask, allStreams, signal)
    await saveSourceFacts(db, facts, { runId, foundAt: new Date(context.clock.now()) })
    const errors = [...failures].map(([stream, { code, message }]): RunProblem => {
      return { stream: stream.name, partition: null, code, message }
    })
    const status = errors.length === 0 ? 'ok' : 'partial'
    // A probe reads no rows.
    const streams = [...calls].map(([{ name }, made]) => [name, { counts: { ...noCounts, ...made }, slices: noSlices }])
    return { status, resumesAt: null, streams: Object.fromEntries(streams), errors } as const
  })
  if ('error' in recorded) throw recorded.error
  return { ...recorded.outcome, facts: await readSourceFacts(db) }
}
