import type { Kysely } from 'kysely'
import type { Clock } from '../core/clock.ts'
import type { Database } from '../db/database.ts'
import { readLastTicks } from '../state/job-runs.ts'
import { registerJobs } from '../state/jobs.ts'
import type { JobHistory } from './decide.ts'
import type { Job } from './job.ts'

/** Reads what is on record of some jobs now, by name. @throws db.… codes */
export type ReadHistories = (some: readonly Job[]) => Promise<ReadonlyMap<string, JobHistory>>

/** Writes down all jobs of the process first, and again where the clock was ahead when they were written down. */
export function createReadHistories(db: Kysely<Database>, clock: Clock, jobs: readonly Job[]): ReadHistories {
  let since: ReadonlyMap<string, Date> | undefined
  return async (some) => {
    const now = new Date(clock.now())
    if (since === undefined || [...since.values()].some((each) => each > now)) {
      since = await registerJobs(
        db,
        jobs.map(({ name, cron, timeZone, isEnabled }) => ({ job: name, cron, timeZone, isEnabled })),
        now,
      )
    }
    const names = some.map(({ name }) => name)
    const last = await readLastTicks(db, names, now)
    return new Map(
      names.map((name) => [name, { sinceMs: (since?.get(name) ?? now).getTime(), last: last.get(name) }] as const),
    )
  }
}
