import type { Kysely } from 'kysely'
import type { Notice } from '../../core/cause.ts'
import type { Database } from '../../db/database.ts'
import { recordCauses } from '../../state/alerts.ts'
import { readCauses, STATE_CAUSES } from '../../state/read-causes.ts'
import { readSchedulers } from '../../state/schedulers.ts'
import { isOfDatabase } from '../health.ts'
import { type AlertChannel, deliverNotices, sendNotices } from './deliver-notices.ts'
import { JOB_CAUSES, type JobCauseOptions, readJobCauses } from './read-job-causes.ts'

export interface WatchOptions extends JobCauseOptions {
  readonly db: Kysely<Database>
  readonly channel: AlertChannel
  readonly signal: AbortSignal
}

const POLL_MS = 60_000

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

/** One look. That the database does not answer cannot be written down there: it is told from memory, and again when it is back. */
export function createLook(options: WatchOptions): () => Promise<void> {
  const { db, channel, signal } = options
  const { clock } = channel
  let isAwayTold = false
  const tell = async (event: Notice['event']): Promise<boolean> =>
    (await sendNotices([{ event, cause: { kind: 'database' }, at: new Date(clock.now()) }], channel, signal)) ===
    undefined
  return async () => {
    try {
      const now = new Date(clock.now())
      await recordCauses(db, { kinds: STATE_CAUSES }, await readCauses(db, now), now)
      await recordJobCauses(options, now)
    } catch (error) {
      if (!isOfDatabase(error)) throw error
      if (!isAwayTold) isAwayTold = await tell('raised')
      return
    }
    if (isAwayTold) isAwayTold = !(await tell('cleared'))
    await deliverNotices(db, channel, signal)
  }
}

/** What cannot be said of a job, such as for want of a setting, keeps nothing else from being told. */
async function recordJobCauses(options: WatchOptions, now: Date): Promise<void> {
  const { db, jobs, channel } = options
  const mine = jobs.map(({ name }) => name)
  const served = (await readSchedulers(db)).flatMap((scheduler) => Object.keys(scheduler.jobs))
  try {
    const causes = await readJobCauses(db, now.getTime(), options)
    await recordCauses(db, { kinds: JOB_CAUSES, jobs: { mine, served: [...mine, ...served] } }, causes, now)
  } catch (error) {
    if (isOfDatabase(error)) throw error
    channel.log.warn('alert.failed', { err: error })
  }
}
