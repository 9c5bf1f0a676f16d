import { systemClock } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import { Leases } from '../ledger/leases/leases.ts'
import type { Db } from '../store/database.ts'

const POLL_MS = 2000

/** Cancels a run of any process by requesting its lease. @returns false if the run is not under way */
export async function cancelRun(db: Db, runId: string): Promise<boolean> {
  await using leases = new Leases(db)
  return await leases.markWanted(`run ${runId}`)
}

/** Watches for the cancellation of a run of this process: `signal` then aborts. Use it with `await using`. */
export function watchForCancel(leases: Pick<Leases, 'isWanted'>, runId: string) {
  const [cancel, disposal] = [new AbortController(), new AbortController()]
  const poll = async (): Promise<void> => {
    while (!disposal.signal.aborted) {
      await systemClock.sleep(POLL_MS, disposal.signal).catch(() => {})
      // If the database does not answer, ask again later.
      if (disposal.signal.aborted || !(await leases.isWanted(`run ${runId}`).catch(() => false))) continue
      return cancel.abort(new LivehouseError('run.interrupted', `run ${runId} was cancelled`, { signal: 'SIGTERM' }))
    }
  }
  const polling = poll()
  return {
    signal: cancel.signal,
    [Symbol.asyncDispose]: async () => {
      disposal.abort()
      await polling
    },
  }
}
