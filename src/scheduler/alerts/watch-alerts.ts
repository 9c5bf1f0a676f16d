import type { Job } from '../../core/define-job.ts'
import type {
  DatabaseSettings,
  ExtractionSettings,
  ServiceSettings,
  ChannelSetting,
  AlertSettings,
} from '../../app/settings.ts'
import type { Kysely } from 'kysely'
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { join, dirname } from 'node:path'
import { createWebhook } from '../../service/webhook.ts'
import { describeTarget } from '../../store/database-url.ts'
import type { Database } from '../../store/database.ts'
import { JOB_CAUSES, type JobCauseOptions, readJobCauses } from './read-job-causes.ts'
import type { AppContext } from '../../app/context.ts'
import { readLastDay } from '../../app/last-day.ts'
import { ALERT_TIMEOUT_MS } from '../../app/report-causes.ts'
import { readExpectedParts } from './expected-parts.ts'
import type { Notice } from '../../core/cause.ts'
import { sqlStateOf } from '../../core/outcome.ts'
import { recordCauses } from '../../ledger/alerts.ts'
import { readCauses, STATE_CAUSES } from '../../ledger/read-causes.ts'
import { readSchedulers } from '../../ledger/jobs.ts'
import { type AlertChannel, deliverNotices, sendNotices } from '../../app/alerts/deliver-notices.ts'
import { mkdir, unlink, writeFile } from 'node:fs/promises'
import { isOfDatabase } from '../serve-jobs.ts'

const POLL_MS = 60_000
/** A database that is started anew is back sooner. */
const SETTLED_MS = 120_000

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

/**
 * Looks every minute for what goes wrong while jobs are served, and tells, until the signal aborts; ends at once where nobody is to
 * be told. Fails nothing.
 */
export async function watchAlerts(
  context: AppContext,
  { db, settings, database, service, jobs, readChannels, readSettings }: AlertWatch,
): Promise<void> {
  const { clock, log, signal } = context
  const { webhook: url } = settings
  if (url === null) return
  await using webhook = createWebhook({ proxies: service.proxies, timeoutMs: ALERT_TIMEOUT_MS })
  const look = createLook({
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
  while (!signal.aborted) {
    await look().catch((err: unknown) => {
      if (!signal.aborted) log.warn('alert.failed', { err })
    })
    await clock.sleep(POLL_MS, signal).catch(() => {})
  }
}

/** One a database, in the folder that outlives a process. */
function outageFile({ target, dataDir }: DatabaseSettings): string {
  const named = target.kind === 'url' ? describeTarget(target.url) : target.kind
  const digest = createHash('sha256').update(named).digest('hex').slice(0, 16)
  return join(dataDir, `told-of-outage-${digest}`)
}

export interface WatchOptions extends JobCauseOptions {
  readonly db: Kysely<Database>
  readonly channel: AlertChannel
  readonly signal: AbortSignal
  readonly mark: OutageMark
  /** Of this process, for people. */
  readonly host: string
}

/**
 * One look. That the database does not answer cannot be written down there: once it has lasted, one process of each machine tells,
 * and whoever of that machine first finds it back tells that.
 */
export function createLook(options: WatchOptions): () => Promise<void> {
  const { db, channel, signal, mark, host } = options
  const { clock } = channel
  let awaySinceMs: number | undefined
  let isTold = false
  const tell = async (event: Notice['event'], sqlState: string | null): Promise<boolean> => {
    const cause = { kind: 'database', host, sqlState } as const
    return (await sendNotices([{ event, cause, at: new Date(clock.now()) }], channel, signal)) === undefined
  }
  const tellAway = async (sqlState: string | null): Promise<boolean> => {
    if (!(await mark.leave()) || (await tell('raised', sqlState))) return true
    await mark.take()
    return false
  }
  return async () => {
    try {
      const now = new Date(clock.now())
      await recordCauses(db, { kinds: STATE_CAUSES }, () => readCauses(db, now), now)
      await recordJobCauses(options, now)
    } catch (error) {
      if (!isOfDatabase(error)) throw error
      awaySinceMs ??= clock.now()
      const isSettled = clock.now() - awaySinceMs >= SETTLED_MS
      if (isSettled && !isTold) isTold = await tellAway(sqlStateOf(error).sqlState ?? null)
      return
    }
    awaySinceMs = undefined
    isTold = false
    if ((await mark.take()) && !(await tell('cleared', null))) await mark.leave()
    await deliverNotices(db, channel, signal)
  }
}

/** What cannot be said of a job, such as for want of a setting, keeps nothing else from being told. */
async function recordJobCauses(options: WatchOptions, now: Date): Promise<void> {
  const { db, jobs, channel } = options
  const mine = jobs.map(({ name }) => name)
  const served = (await readSchedulers(db)).flatMap((scheduler) => Object.keys(scheduler.jobs))
  try {
    const lookedAt = { kinds: JOB_CAUSES, jobs: { mine, served: [...mine, ...served] } }
    await recordCauses(db, lookedAt, () => readJobCauses(db, now.getTime(), options), now)
  } catch (error) {
    if (isOfDatabase(error)) throw error
    channel.log.warn('alert.failed', { err: error })
  }
}

/**
 * That an operator was told of a database which does not answer: it cannot be written down there. The processes of a machine share
 * it, and it outlives them.
 */
export interface OutageMark {
  /** @returns false where it is there already: then somebody of this machine has told */
  readonly leave: () => Promise<boolean>
  /** @returns whether it was there: then who took it away tells that it is over */
  readonly take: () => Promise<boolean>
}

/** A file; where none can be written, this process remembers by itself. */
export function createOutageMark(file: string): OutageMark {
  let isRemembered = false
  return {
    leave: async () => {
      if (isRemembered) return false
      // Where there can be no folder there can be no file.
      await mkdir(dirname(file), { recursive: true }).catch(() => {})
      try {
        await writeFile(file, '', { flag: 'wx' })
        return true
      } catch (error) {
        if (isCode(error, 'EEXIST')) return false
        isRemembered = true
        return true
      }
    },
    take: async () => {
      const wasRemembered = isRemembered
      isRemembered = false
      const wasThere = await unlink(file).then(
        () => true,
        () => false,
      )
      return wasThere || wasRemembered
    },
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
