import type { Kysely } from 'kysely'
import type { Notice } from '../../core/cause.ts'
import { sqlStateOf } from '../../core/outcome.ts'
import type { Database } from '../../store/database.ts'
import { recordCauses } from '../../ledger/alerts.ts'
import { readCauses, STATE_CAUSES } from '../../ledger/read-causes.ts'
import { readSchedulers } from '../../ledger/jobs.ts'
import { isOfDatabase } from '../health.ts'
import { type AlertChannel, deliverNotices, sendNotices } from '../../app/alerts/deliver-notices.ts'
import type { OutageMark } from './outage-mark.ts'
import { JOB_CAUSES, type JobCauseOptions, readJobCauses } from './read-job-causes.ts'

export interface WatchOptions extends JobCauseOptions {
  readonly db: Kysely<Database>
  readonly channel: AlertChannel
  readonly signal: AbortSignal
  readonly mark: OutageMark
  /** Of this process, for people. */
  readonly host: string
}

const POLL_MS = 60_000
/** A database that is started anew is back sooner. */
const SETTLED_MS = 120_000

/** Looks every minute until the signal aborts, and tells; fails nothing. */
export async function watchCauses(options: WatchOptions): Promise<void> {
  const { channel, signal } = options
  const look = createLook(options)
  while (!signal.aborted) {
    await look().catch((err: unknown) => {
      if (!signal.aborted) channel.log.warn('alert.failed', { err })
    })
    await channel.clock.sleep(POLL_MS, signal).catch(() => {})
  }
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
