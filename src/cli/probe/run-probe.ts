import assert from 'node:assert/strict'
import type { Kysely } from 'kysely'
import type { ServiceSettings } from '../../config.ts'
import { type RunOutcome, type RunProblem, noCounts, noSlices } from '../../core/outcome.ts'
import type { ListEndpoint } from '../../core/page.ts'
import type { StreamName } from '../../core/stream.ts'
import type { Database } from '../../db/database.ts'
import { probe, type ProbeResult } from '../../pipeline/probe.ts'
import { Leases } from '../../state/leases.ts'
import { finishRun, openRun } from '../../state/runs.ts'
import { keepSourceFacts } from '../../state/source-facts.ts'
import { allStreams } from '../../streams/registry.ts'
import type { CliContext } from '../command.ts'
import { causeBehind, failureOutcome } from '../failure.ts'
import { openConnection } from '../open-connection.ts'
import { outcomeObject } from '../outcome-json.ts'

export interface ProbeRequest {
  readonly service: ServiceSettings
  readonly db: Kysely<Database>
  readonly channels: readonly string[]
}

/** Asks the service and keeps what it tells; a run like any other, written down however it ends. */
export async function runProbe(context: CliContext, request: ProbeRequest): Promise<RunOutcome> {
  const { clock } = context
  const { db, channels } = request
  const command = 'probe'
  const startedAt = new Date(clock.now())
  await using leases = new Leases(db)
  const runId = await openRun(db, { command, settings: { channels }, startedAt }, leases)
  const finish = async (outcome: RunOutcome): Promise<RunOutcome> => {
    const ended = { status: outcome.status, finishedAt: new Date(outcome.finishedAt), resumesAt: null }
    await finishRun(db, runId, { ...ended, outcome: outcomeObject(outcome) })
    return outcome
  }
  const times = () => ({ startedAt: startedAt.toISOString(), finishedAt: new Date(clock.now()).toISOString() })
  try {
    const { facts, calls, failures } = await ask(context, request)
    await keepSourceFacts(db, facts, { runId, foundAt: new Date(clock.now()) })
    const errors = [...failures].map(([endpoint, { code, message }]): RunProblem => {
      return { stream: streamOf(endpoint), partition: null, code, message }
    })
    const status = errors.length === 0 ? 'ok' : 'partial'
    const outcome = { runId, command, status, ...times(), resumesAt: null, streams: countsOf(calls), errors } as const
    return await finish(outcome)
  } catch (thrown) {
    const error = causeBehind(thrown)
    // Where the database does not answer, what stopped the run says so; to say it again would hide the rest.
    await finish(failureOutcome(runId, { command, error, ...times() })).catch(() => {})
    throw error
  }
}

async function ask(context: CliContext, { service, db, channels }: ProbeRequest): Promise<ProbeResult> {
  const { clock, signal } = context
  await using connection = openConnection(context, service, db)
  return await probe({ ask: connection.ask, channels, timeZone: service.timeZone, clock, signal })
}

/** The stream whose endpoint this is. */
function streamOf(endpoint: ListEndpoint): StreamName {
  const stream = allStreams.find((each) => each.request({ channel: '' }, undefined).endpoint === endpoint)
  return stream?.name ?? assert.fail(`no stream reads ${endpoint}`)
}

/** The calls of each stream's endpoint; a probe reads no rows. */
function countsOf(calls: ProbeResult['calls']): RunOutcome['streams'] {
  return Object.fromEntries(
    [...calls].map(([endpoint, made]) => [streamOf(endpoint), { counts: { ...noCounts, ...made }, slices: noSlices }]),
  )
}
