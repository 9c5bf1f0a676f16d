import type { Kysely } from 'kysely'
import { outcomeObject } from '../app/outcome.ts'
import { openConnection, readServiceTime } from '../app/open-connection.ts'
import { openAsItIs, refusePending } from '../app/open-database.ts'
import type { ReadDatabase } from '../app/run-backfill.ts'
import type { ExtractionSettings, ServiceSettings } from '../app/settings.ts'
import { noCounts, noSlices } from '../core/outcome.ts'
import type { Stream } from '../core/stream.ts'
import { type WallTime, wallTimeAt } from '../core/wall-clock.ts'
import { readGoneChannels } from '../ledger/channel-states.ts'
import { readQuestions } from '../ledger/questionnaires.ts'
import { checkSource } from '../ledger/source.ts'
import type { Database } from '../store/database.ts'
import { estimateCalls, type StreamEstimate } from '../sync/estimate-calls.ts'
import { resumeOpenFirst } from '../sync/plan-again.ts'
import type { PlanStreams } from '../sync/run-streams.ts'
import type { CliContext } from './command.ts'
import { formatTable, printResult } from './format.ts'

interface DryRunRequest {
  /** The verb. */
  readonly command: string
  readonly settings: Pick<ExtractionSettings, 'service' | 'database'>
  readonly streams: readonly Stream[]
  /** Whether the channels were asked for by name: then those that are gone are tried again. */
  readonly namesChannels: boolean
  readonly planStreams: (db: ReadDatabase, now: WallTime) => Promise<PlanStreams>
  /** The backfill that the run would abandon. */
  readonly findAbandoned?: (db: Kysely<Database>) => Promise<string | undefined>
  readonly isJson: boolean
}

/**
 * Shows what a run would read and how long that takes, and writes nothing: no run, no migration, no claim, no channel.
 * @returns the exit code
 */
export async function dryRun(context: CliContext, request: DryRunRequest): Promise<number> {
  const startedAt = new Date(context.clock.now()).toISOString()
  const { settings, streams } = request
  const { service } = settings
  await using database = await openAsItIs(context, settings.database)
  refusePending(database)
  const db = database.isMigrated ? database.db : undefined
  if (db !== undefined) await checkSource(db, service)

  const gone = db === undefined || request.namesChannels ? new Set<string>() : await readGoneChannels(db)
  const questions = db && (await readQuestions(db, 'listed'))
  const questionsOf = (channelId: string) => questions?.get(channelId) ?? []
  // Alone with its token and its pace: to share them is to write.
  await using connection = openConnection(context, service, undefined)
  const clock = await readServiceTime(context, connection)
  const planStreams = await request.planStreams(db, wallTimeAt(clock.now(), service.timeZone))
  const planned = (await planStreams(streams, questionsOf)).filter(
    ({ partition: { channel } }) => channel === undefined || !gone.has(channel),
  )
  const abandoned = db && (await request.findAbandoned?.(db))
  const plans = db === undefined ? planned : await resumeOpenFirst(db, planned, clock.now(), abandoned)
  let asked = 0
  const estimates = await estimateCalls(streams, plans, {
    fetchPage: connection.fetchPage,
    context: { signal: context.signal, onAttempt: () => void asked++ },
    questionsOf,
  })
  const estimate = estimateObject(estimates, asked, service)
  const run = outcomeObject({
    runId: null,
    command: request.command,
    status: 'ok',
    startedAt,
    finishedAt: new Date(context.clock.now()).toISOString(),
    resumesAt: null,
    streams: Object.fromEntries(streams.map(({ name }) => [name, { counts: noCounts, slices: noSlices }])),
    errors: [],
  })
  printResult(context, request.isJson, { ...run, dry_run: true, estimate }, describe(estimate))
  return 0
}

type Estimate = ReturnType<typeof estimateObject>

function estimateObject(estimates: readonly StreamEstimate[], asked: number, { maxCallsPerSecond }: ServiceSettings) {
  const calls = estimates.reduce((sum, each) => sum + each.calls, 0)
  // Five and twenty calls a second, and what is allowed.
  const rates = [...new Set([5, 20, ...(maxCallsPerSecond > 0 ? [maxCallsPerSecond] : [])])]
  const streams = estimates.map(({ stream, slices, calls: ofStream, isAtLeast }) => {
    return [stream, { slices, calls: ofStream, is_at_least: isAtLeast }] as const
  })
  return {
    streams: Object.fromEntries(streams),
    calls,
    asked_calls: asked,
    minutes: Object.fromEntries(rates.map((rate) => [rate, Math.ceil((calls / rate / 60) * 10) / 10])),
  }
}

function describe({ streams, calls, asked_calls: asked, minutes }: Estimate): string[] {
  const all = Object.entries(streams)
  const floor = (isAtLeast: boolean) => (isAtLeast ? 'at least ' : '')
  const rows = all.map(([name, each]) => [name, each.slices, `${floor(each.is_at_least)}${each.calls}`])
  const times = Object.entries(minutes).map(([rate, each]) => `${each} at ${rate}`)
  return [
    ...formatTable(['stream', 'slices', 'calls'], rows),
    '',
    `${floor(all.some(([, each]) => each.is_at_least))}${calls} calls; minutes by calls a second: ${times.join(', ')}`,
    `Nothing was written.${asked === 0 ? '' : ` The service was asked for totals, ${asked} calls.`}`,
  ]
}
