import type { AppContext } from './context.ts'
import type { Kysely } from 'kysely'
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createWebhook } from '../api/webhook.ts'
import type { DatabaseSettings, ServiceSettings } from '../config.ts'
import type { AlertSettings } from '../config/read-alerts.ts'
import { describeTarget } from '../db/database-url.ts'
import type { Database } from '../db/database.ts'
import { createOutageMark } from '../scheduler/alerts/outage-mark.ts'
import { watchCauses } from '../scheduler/alerts/watch-causes.ts'
import type { Job } from '../scheduler/job.ts'
import { readExpectedParts } from './expected-parts.ts'
import { readLastDay } from './last-day.ts'
import { ALERT_TIMEOUT_MS } from './report-causes.ts'

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
