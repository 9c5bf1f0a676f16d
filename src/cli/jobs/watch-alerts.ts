import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { createWebhook } from '../../api/webhook.ts'
import type { AlertSettings } from '../../config/read-alerts.ts'
import { readChannelsIfAny } from '../../config/read-channels.ts'
import { type DatabaseSettings, readSettings, type ServiceSettings } from '../../config.ts'
import type { StreamName } from '../../core/stream.ts'
import type { Database } from '../../db/database.ts'
import { describeTarget } from '../../db/database-url.ts'
import { createOutageMark } from '../../scheduler/alerts/outage-mark.ts'
import { watchCauses } from '../../scheduler/alerts/watch-causes.ts'
import type { Job } from '../../scheduler/job.ts'
import { readQuestions } from '../../state/questionnaires.ts'
import type { CliContext } from '../command.ts'
import { ALERT_TIMEOUT_MS } from '../tell-of-causes.ts'
import { jobStreams } from './job-streams.ts'
import { readLastDay } from './read-last-day.ts'

export interface AlertWatch {
  readonly db: Kysely<Database>
  readonly settings: AlertSettings
  readonly database: DatabaseSettings
  readonly service: ServiceSettings
  /** Those that are served. */
  readonly jobs: readonly Job[]
}

/** Tells of what goes wrong while jobs are served, until the signal aborts; ends at once where nobody is to be told. */
export async function watchAlerts(
  context: CliContext,
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
    streamsOf: async (job) => await readableStreams(context, db, job),
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

/** Without channels, or without questionnaires, there is nothing of some streams to read. */
async function readableStreams(
  { environment }: CliContext,
  db: Kysely<Database>,
  job: Job,
): Promise<readonly StreamName[]> {
  const hasChannels = readSettings(environment, readChannelsIfAny).length > 0
  const hasQuestions = (await readQuestions(db)).size > 0
  return jobStreams(job)
    .filter(({ partitionedBy }) => partitionedBy === 'account' || hasChannels)
    .filter(({ partitionedBy }) => partitionedBy !== 'channel/question' || hasQuestions)
    .map(({ name }) => name)
}
