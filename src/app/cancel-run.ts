import { systemClock } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import { Leases } from '../ledger/leases/leases.ts'
import type { Db } from '../store/database.ts'

/** How often a run checks whether it has been cancelled. */
const LOOK_MS = 2000

/** Cancels a run of any process by requesting its lease. @returns false if the run is not under way */
export async function cancelRun(db: Db, runId: string): Promise<boolean> {
  await using leases = new Leases(db)
  return await leases.markWanted(`run ${runId}`)
}

/** Watches for the cancellation of a run of this process: `signal` then aborts. Use it with `await using`. */
export function watchForCancel(leases: Pick<Leases, 'isWanted'>, runId: string) {
  const [cancelled, over] = [new AbortController(), new AbortController()]
  const look = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await systemClock.sleep(LOOK_MS, over.signal).catch(() => {})
      // If the database does not answer, ask again later.
      if (over.signal.aborted || !(await leases.isWanted(`run ${runId}`).catch(() => false))) continue
      return cancelled.abort(new LivehouseError('run.interrupted', `run ${runId} was cancelled`, { signal: 'SIGTERM' }))
    }
  }
  const looking = look()
  return {
    signal: cancelled.signal,
    [Symbol.asyncDispose]: async () => {
      over.abort()
      await looking
    },
  }
}
