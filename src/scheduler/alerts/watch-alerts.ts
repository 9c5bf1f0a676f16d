import type { Job } from '../../core/define-job.ts'
import {
  type DatabaseSettings,
  type ExtractionSettings,
  type ServiceSettings,
  type ChannelSetting,
  type AlertSettings,
  plannedChannel,
} from '../../app/settings.ts'
import type { Kysely } from 'kysely'
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createWebhook } from '../../service/webhook.ts'
import { partitionKey } from '../../core/slice.ts'
import type { WallTime } from '../../core/wall-clock.ts'
import { describeTarget } from '../../store/database-url.ts'
import type { Database } from '../../store/database.ts'
import { partitionsOf, type PlannedChannel } from '../../sync/partitions.ts'
import { createOutageMark } from './outage-mark.ts'
import type { ExpectedStream } from './read-job-causes.ts'
import { watchCauses } from './watch-causes.ts'
import { readChangedSince, readChannelList } from '../../ledger/channel-states.ts'
import type { ServiceDay } from '../../ledger/latest-readings.ts'
import { readQuestions } from '../../ledger/questionnaires.ts'
import type { AppContext } from '../../app/context.ts'
import { readLastDay } from '../../app/last-day.ts'
import { ALERT_TIMEOUT_MS } from '../../app/report-causes.ts'
import { jobStreams } from '../../app/run-job.ts'

interface AlertWatch {
  readonly db: Kysely<Database>
  readonly settings: AlertSettings
  readonly database: DatabaseSettings
  readonly service: ServiceSettings
  /** Those that are served. */
  readonly jobs: readonly Job[]
  /** The configured channels, read anew each time. @throws config.invalid */
  readonly readChannels: () => readonly ChannelSetting[]
  /** Of a job, read anew each time. @throws config.invalid */
  readonly readSettings: (job: Job) => ExtractionSettings
}

/** Tells of what goes wrong while jobs are served, until the signal aborts; ends at once where nobody is to be told. */
export async function watchAlerts(
  context: AppContext,
  { db, settings, database, service, jobs, readChannels, readSettings }: AlertWatch,
): Promise<void> {
  const { clock, log, signal } = context
  const { webhook: url } = settings
  if (url === null) return
  await using webhook = createWebhook({ proxies: service.proxies, timeoutMs: ALERT_TIMEOUT_MS })
  await watchCauses({
    db,
    jobs,
    timeZone: service.timeZone,
    partsOf: (job, day) => readExpectedParts(db, job, day, readChannels()),
    lastDayOf: (job) => readLastDay(context, db, job, readSettings(job)),
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
 */
export async function readExpectedParts(
  db: Kysely<Database>,
  job: Job,
  day: ServiceDay,
  configured: readonly ChannelSetting[],
): Promise<readonly ExpectedStream[]> {
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
