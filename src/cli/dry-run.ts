import { outcomeObject } from '../app/outcome.ts'
import { openConnection, readServiceTime } from '../app/open-connection.ts'
import { openAsItIs, refusePending } from '../app/open-database.ts'
import type { ExtractionRequest } from '../app/run-extraction.ts'
import type { ExtractionSettings } from '../app/settings.ts'
import { noCounts, noSlices } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { formatWallTime, type WallTime, wallTimeAt } from '../core/wall-clock.ts'
import { readGoneChannels } from '../ledger/channels.ts'
import { readQuestions } from '../ledger/questionnaires.ts'
import { checkSource } from '../ledger/source.ts'
import type { Db } from '../store/database.ts'
import { resumeOpenFirst } from '../sync/plan-again.ts'
import type { PartitionPlan } from '../sync/plan-slices.ts'
import type { PlanStreams } from '../sync/run-streams.ts'
import type { CliContext } from './command.ts'
import { formatTable, printResult } from './format.ts'

interface DryRunRequest extends Pick<ExtractionRequest, 'command' | 'streams' | 'namesChannels'> {
  readonly settings: Pick<ExtractionSettings, 'service' | 'database'>
  readonly planStreams: (db: Db | undefined, now: WallTime) => Promise<PlanStreams>
  readonly findAbandoned?: (db: Db) => Promise<string | undefined>
  readonly isJson: boolean
}

/**
 * Shows what a run would read, and writes nothing: no run, no migration, no claim, no channel.
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
  const plan = planObject(streams, plans)
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
  printResult(context, request.isJson, { ...run, dry_run: true, plan }, describe(plan))
  return 0
}

type Plan = ReturnType<typeof planObject>

function planObject(streams: readonly Stream[], plans: readonly PartitionPlan[]) {
  return Object.fromEntries(
    streams.map(({ name }) => {
      const slices = plans.filter(({ stream }) => stream.name === name).flatMap((each) => each.slices)
      const windows = slices.flatMap(({ window }) => window ?? [])
      const from = windows.reduce((first, each) => Math.min(first, each.from), Infinity)
      const to = windows.reduce((last, each) => Math.max(last, each.to), -Infinity)
      const range = windows.length === 0 ? [null, null] : [formatWallTime(from), formatWallTime(to)]
      return [name, { slices: slices.length, from: range[0] ?? null, to: range[1] ?? null }]
    }),
  )
}

function describe(plan: Plan): string[] {
  const rows = Object.entries(plan).map(([name, { slices, from, to }]) => [name, slices, from ?? '–', to ?? '–'])
  return [...formatTable(['stream', 'slices', 'from', 'to'], rows), '', 'Nothing was read or written.']
}
