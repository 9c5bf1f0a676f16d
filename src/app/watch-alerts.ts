import type { Kysely } from 'kysely'
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createWebhook } from '../service/webhook.ts'
import { type DatabaseSettings, readSettings, type ServiceSettings } from '../config.ts'
import type { ChannelSetting } from '../config/channel-setting.ts'
import type { AlertSettings } from '../config/read-alerts.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import { partitionKey } from '../core/slice.ts'
import type { WallTime } from '../core/wall-clock.ts'
import { describeTarget } from '../store/database-url.ts'
import type { Database } from '../store/database.ts'
import { partitionsOf, type PlannedChannel } from '../sync/partitions.ts'
import { createOutageMark } from '../scheduler/alerts/outage-mark.ts'
import type { ExpectedStream } from '../scheduler/alerts/read-job-causes.ts'
import { watchCauses } from '../scheduler/alerts/watch-causes.ts'
import type { Job } from '../scheduler/job.ts'
import { readChangedSince, readChannelList } from '../ledger/channel-states.ts'
import { readQuestions } from '../ledger/questionnaires.ts'
import type { AppContext } from './context.ts'
import { plannedChannel } from './extraction-settings.ts'
import { readLastDay } from './last-day.ts'
import { ALERT_TIMEOUT_MS } from './report-causes.ts'
import { jobStreams } from './run-job.ts'

interface AlertWatch {
  readonly db: Kysely<Database>
  readonly settings: AlertSettings
  readonly database: DatabaseSettings
  readonly service: ServiceSettings
  /** Those that are served. */
  readonly jobs: readonly Job[]
}

/** Tells of what goes wrong while jobs are served, until the signal aborts; ends at once where nobody is to be told. */
export async function watchAlerts(
  context: AppContext,
  { db, settings, database, service, jobs }: AlertWatch,
): Promise<void> {
  const { clock, log, signal } = context
  const { webhook: url } = settings
  if (url === null) return
  await using webhook = createWebhook({ proxies: service.proxies, timeoutMs: ALERT_TIMEOUT_MS })
  await watchCauses({
    db,
    jobs,
    timeZone: service.timeZone,
    partsOf: (job, day) => readExpectedParts(context, db, job, day),
    lastDayOf: (job) => readLastDay(context, db, job),
    v1Budget: service.v1Budget,
    mark: createOutageMark(outageFile(database)),
    host: hostname(),
    channel: { ...settings, url, post: webhook.ask, clock, log },
    signal,
  })
}

/** One a database, in the folder that outlives a process. */
function outageFile({ target, dataDir }: DatabaseSettings): string {
  const named = target.kind === 'url' ? describeTarget(target.url) : target.kind
  const digest = createHash('sha256').update(named).digest('hex').slice(0, 16)
  return join(dataDir, `told-of-outage-${digest}`)
}

/**
 * What a job is to read each day, stream by stream; without channels, or without questionnaires, there is nothing of some.
 * Channels that are gone or over are not expected, nor those that no run has met yet, unless none has been met at all.
 * @throws config.invalid
 */
export async function readExpectedParts(
  { environment }: Pick<AppContext, 'environment'>,
  db: Kysely<Database>,
  job: Job,
  day: { readonly begin: WallTime; readonly timeZone: string },
): Promise<readonly ExpectedStream[]> {
  const configured = readSettings(environment, readChannelsIfAny)
  const chosen = configured.filter((channel) => isChosen(job, channel))
  const states = new Map((await readChannelList(db)).map(({ channelId, state }) => [channelId, state]))
  const isMet = chosen.some(({ channelId }) => states.has(channelId))
  const channels = chosen
    .filter(({ channelId }) => !isMet || states.get(channelId) === 'active')
    .map(plannedChannel)
    .filter((channel) => isOpen(channel, day.begin))
  const questions = await readQuestions(db, 'listed')
  const changed = await readChangedSince(db, day)
  return jobStreams(job).flatMap((stream): readonly ExpectedStream[] => {
    const { name, partitionedBy, isBudgeted = false } = stream
    const isAnyEnough = job.kind !== 'sync' || isBudgeted || (chosen.length === 0 && configured.length > 0)
    const parts = partitionsOf(stream, channels, (channelId) => questions.get(channelId) ?? []).map(({ partition }) => {
      const part = partitionKey(partition)
      const channel = `channel=${partition.channel}`
      return { part, isNew: changed.has(channel) || changed.has(part) }
    })
    // What is read a part at a time, or by a job that names channels which are not there, has no list of what a day brings.
    if (isAnyEnough && (partitionedBy !== 'channel/question' || questions.size > 0)) {
      return configured.length > 0 || partitionedBy === 'account' ? [{ stream: name, parts: 'any' }] : []
    }
    return parts.length > 0 ? [{ stream: name, parts }] : []
  })
}

function isChosen({ definition }: Job, { channelId, group }: ChannelSetting): boolean {
  const { channels = 'all' } = definition
  if (channels === 'all') return true
  return 'group' in channels ? group === channels.group : channels.includes(channelId)
}

function isOpen({ from, until }: PlannedChannel, begin: WallTime): boolean {
  return (from === undefined || from < begin) && (until === undefined || until > begin)
}
