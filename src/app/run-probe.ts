import type { ServiceSettings } from './settings.ts'
import type { AppContext } from './context.ts'
import type { RunOutcome, RunProblem } from '../core/outcome.ts'
import { noCounts, noSlices } from '../core/slice.ts'
import type { Db } from '../store/database.ts'
import { probe, type ProbeResult } from '../sync/probe.ts'
import { keepSourceFacts } from '../ledger/source.ts'
import { allStreams } from '../streams/registry.ts'
import { recordRun } from './record-run.ts'
import { openConnection } from './open-connection.ts'

interface ProbeRequest {
  readonly service: ServiceSettings
  readonly db: Db
}

/** Asks the service and keeps its answers, as a run that is recorded however it ends. */
export async function runProbe(context: AppContext, request: ProbeRequest): Promise<RunOutcome> {
  const { db } = request
  const recorded = await recordRun(context, { db, command: 'probe', asked: {} }, async ({ runId, signal }) => {
    const { facts, calls, failures } = await ask({ ...context, signal }, request)
    await keepSourceFacts(db, facts, { runId, foundAt: new Date(context.clock.now()) })
    const errors = [...failures].map(([stream, { code, message }]): RunProblem => {
      return { stream: stream.name, partition: null, code, message }
    })
    const status = errors.length === 0 ? 'ok' : 'partial'
    return { status, resumesAt: null, streams: countsOf(calls), errors } as const
  })
  if ('error' in recorded) throw recorded.error
  return recorded.outcome
}

async function ask(context: AppContext, { service, db }: ProbeRequest): Promise<ProbeResult> {
  await using connection = openConnection(context, service, db)
  return await probe({ ask: connection.ask, streams: allStreams, signal: context.signal })
}

/** The calls of each stream; a probe reads no rows. */
function countsOf(calls: ProbeResult['calls']): RunOutcome['streams'] {
  return Object.fromEntries(
    [...calls].map(([stream, made]) => [stream.name, { counts: { ...noCounts, ...made }, slices: noSlices }]),
  )
}
