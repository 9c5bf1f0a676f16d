import { noCounts, noSlices } from '../core/slice.ts'
import type { RunOutcome } from '../core/outcome.ts'
import { type WallTime, wallTimeAt } from '../core/wall-clock.ts'
import { type BackfillArguments, findOpenBackfill } from '../ledger/backfills.ts'
import { readGoneChannels } from '../ledger/channels.ts'
import { readQuestions } from '../ledger/questionnaires.ts'
import { checkSource } from '../ledger/source.ts'
import type { Db } from '../store/database.ts'
import { resumeOpenFirst } from '../sync/plan-again.ts'
import type { PartitionPlan } from '../sync/plan-slices.ts'
import type { PlanStreams } from '../sync/run-streams.ts'
import type { AppContext } from './context.ts'
import { openConnection, readServiceTime } from './open-connection.ts'
import { openAsItIs, refusePending } from './open-database.ts'
import type { ExtractionRequest } from './run-extraction.ts'
import type { ExtractionSettings } from './settings.ts'

export interface PlanRequest extends Pick<ExtractionRequest, 'command' | 'streams' | 'namesChannels'> {
  readonly settings: Pick<ExtractionSettings, 'service' | 'database'>
  readonly planStreams: (db: Db | undefined, now: WallTime) => Promise<PlanStreams>
  /** The backfill that would be abandoned, if it is open. */
  readonly abandoned?: BackfillArguments
}

/** What a run would read. Writes nothing: no run, no migration, no claim, no channel. */
export async function planRun(
  context: AppContext,
  request: PlanRequest,
): Promise<{ readonly outcome: RunOutcome; readonly plans: readonly PartitionPlan[] }> {
  const startedAt = new Date(context.clock.now()).toISOString()
  const { settings, streams, command } = request
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
  const abandoned = db && request.abandoned && (await findOpenBackfill(db, request.abandoned))
  const plans = db === undefined ? planned : await resumeOpenFirst(db, planned, clock.now(), abandoned)
  const outcome = {
    runId: null,
    command,
    status: 'ok',
    startedAt,
    finishedAt: new Date(context.clock.now()).toISOString(),
    resumesAt: null,
    streams: Object.fromEntries(streams.map(({ name }) => [name, { counts: noCounts, slices: noSlices }])),
    errors: [],
  } as const
  return { outcome, plans }
}
