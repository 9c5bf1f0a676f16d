import type { Kysely } from 'kysely'
import type { Database } from '../db/database.ts'
import { Leases, type LeaseTimes, readLeases } from './leases.ts'

/** That this process, and no other, is at work on a job. Use it with `await using`. */
export interface JobLease extends AsyncDisposable {
  /** Aborts, with lease.lost, when another may be. */
  readonly lost: AbortSignal
}

/** Does not wait. @returns undefined while another has it @throws db.… codes */
export async function takeJob(db: Kysely<Database>, job: string, times?: LeaseTimes): Promise<JobLease | undefined> {
  await using stack = new AsyncDisposableStack()
  const leases = stack.use(new Leases(db, times))
  const lost = await leases.tryTake(nameOf(job))
  if (lost === undefined) return undefined
  const held = stack.move()
  return { lost, [Symbol.asyncDispose]: async () => await held.disposeAsync() }
}

/** Those of some jobs that a living process is at work on. */
export async function readHeldJobs(db: Kysely<Database>, jobs: readonly string[]): Promise<ReadonlySet<string>> {
  const names = new Set((await readLeases(db)).map(({ name }) => name))
  return new Set(jobs.filter((job) => names.has(nameOf(job))))
}

function nameOf(job: string): string {
  return `job ${job}`
}
