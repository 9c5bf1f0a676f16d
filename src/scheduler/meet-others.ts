import type { Kysely } from 'kysely'
import type { Log } from '../core/log.ts'
import type { Database } from '../db/database.ts'
import { readSchedulers, sayHere, type Scheduler } from '../state/schedulers.ts'

/** Says that a scheduler is there, and warns once of each other one whose job files are not the same. */
export type MeetOthers = () => Promise<void>

export function createMeetOthers(db: Kysely<Database>, log: Log, scheduler: Scheduler): MeetOthers {
  const warned = new Set<string>()
  return async () => {
    await sayHere(db, scheduler)
    for (const other of await readSchedulers(db)) {
      const jobs = differingJobs(scheduler.jobs, other.jobs)
      if (jobs.length === 0 || warned.has(other.schedulerId)) continue
      warned.add(other.schedulerId)
      log.warn('jobs.differ', { other: other.worker, jobs, mend: 'give every livehouse serve the same job files' })
    }
  }
}

/** The jobs that only one of two has, or that are not the same in both. */
function differingJobs(a: Scheduler['jobs'], b: Scheduler['jobs']): readonly string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((job) => a[job] !== b[job]).toSorted()
}
