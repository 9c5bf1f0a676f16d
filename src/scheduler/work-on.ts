import { systemClock } from '../core/clock.ts'
import { LivehouseError, messageOf } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import { thisProcess } from '../ledger/leases/leases.ts'
import type { Attempt, Queue, QueueName } from './queue.ts'

/** How a process works on the jobs of a queue. */
export interface WorkOptions {
  readonly queue: Pick<Queue, 'onSent' | 'take' | 'renew' | 'complete' | 'fail' | 'giveBack' | 'cancel'>
  readonly name: QueueName
  readonly concurrency: number
  readonly log: Log
  /** When it aborts, no further job is begun, and those under way are waited for. */
  readonly signal: AbortSignal
  /** `signal` also aborts if the job is no longer ours. @returns the job's output @throws any error, to fail the job */
  readonly handle: (attempt: Attempt, signal: AbortSignal) => Promise<object>
  /** Selects the jobs that are still wanted; all if not given. */
  readonly keepWanted?: (attempts: readonly Attempt[]) => Promise<readonly Attempt[]>
}

/** How often to look for jobs; when one has ended, the next look follows at once. */
const POLL_MS = 1000
const RENEW_MS = 3000
/** Errors that may concern this process alone: it takes no job for `REST_MS`, unless it has completed one meanwhile. */
const LOCAL_ERRORS: ReadonlySet<string> = new Set(['job.failed', 'db.newer', 'db.otherSource'])
const REST_MS = 20_000
const DATABASE_POLL_MS = 5000

/** Works on jobs until the signal aborts, and gives back those that this interrupts. In real time, like heartbeats. */
export async function workOn({ queue, name, concurrency, log, signal, ...handlers }: WorkOptions): Promise<void> {
  const active = new Map<Attempt, AbortController>()
  let wake = new AbortController()
  const wakeUp = () => wake.abort()
  signal.addEventListener('abort', wakeUp, { once: true })
  queue.onSent(name, wakeUp)
  let restsUntilMs = 0
  let completed = 0
  const rest = (reason: string): void => {
    const now = systemClock.monotonicMs()
    if (now >= restsUntilMs) log.warn('worker.rests', { seconds: REST_MS / 1000, reason })
    restsUntilMs = now + REST_MS
  }

  const perform = async (attempt: Attempt, lost: AbortController): Promise<void> => {
    const before = completed
    const end = await handlers.handle(attempt, AbortSignal.any([signal, lost.signal])).then(
      (output) => {
        completed++
        return () => queue.complete(name, attempt, output)
      },
      (error: unknown) => {
        if (completed === before && error instanceof LivehouseError && LOCAL_ERRORS.has(error.code)) rest(error.message)
        return () => (signal.aborted ? queue.giveBack(name, attempt) : queue.fail(name, attempt, messageOf(error)))
      },
    )
    try {
      // If the job is lost, the process that has it now records its end.
      if (!lost.signal.aborted) await end()
    } catch (error) {
      // Without an end on record, another attempt follows.
      log.warn('queue.failed', { reason: messageOf(error) })
    }
  }
  const keepWanted = async (attempts: readonly Attempt[]): Promise<readonly Attempt[]> => {
    if (handlers.keepWanted === undefined || attempts.length === 0) return attempts
    const wanted = new Set(await handlers.keepWanted(attempts))
    const unwanted = attempts.filter((attempt) => !wanted.has(attempt)).map(({ id }) => id)
    await queue.cancel(name, unwanted)
    return [...wanted]
  }
  const renew = async (): Promise<void> => {
    const renewed = await queue.renew(name, await keepWanted([...active.keys()]))
    for (const [attempt, lost] of active) {
      if (renewed.has(attempt) || lost.signal.aborted) continue
      log.info('job.lost', { id: attempt.id })
      const message = `job ${attempt.id} of the queue was cancelled or taken over while ${thisProcess()} worked on it`
      lost.abort(new LivehouseError('lease.lost', message, {}))
    }
  }

  let renewedAtMs = systemClock.monotonicMs()
  // Jobs under way after the last look. Take at most twice as many, to leave some to workers that look later.
  let lastActiveCount = 0
  while (!signal.aborted || active.size > 0) {
    wake = new AbortController()
    let waitMs = POLL_MS
    try {
      if (systemClock.monotonicMs() - renewedAtMs >= RENEW_MS) {
        renewedAtMs = systemClock.monotonicMs()
        await renew()
      }
      const isResting = systemClock.monotonicMs() < restsUntilMs
      const free =
        signal.aborted || isResting ? 0 : Math.min(concurrency, Math.max(1, 2 * lastActiveCount)) - active.size
      const taken = free > 0 ? await queue.take(name, free) : []
      const wanted = await keepWanted(taken).catch(async (error: unknown) => {
        for (const attempt of taken) await queue.giveBack(name, attempt)
        throw error
      })
      for (const attempt of wanted) {
        const lost = new AbortController()
        active.set(attempt, lost)
        void perform(attempt, lost).finally(() => {
          active.delete(attempt)
          wake.abort()
        })
      }
      // Count unwanted jobs too, and look again at once: there may be more of them, which no other worker needs.
      lastActiveCount = active.size + taken.length - wanted.length
      if (wanted.length < taken.length) waitMs = 0
    } catch (error) {
      log.warn('queue.failed', { reason: messageOf(error) })
      waitMs = DATABASE_POLL_MS
    }
    await systemClock.sleep(waitMs, wake.signal).catch(() => {})
  }
  signal.removeEventListener('abort', wakeUp)
}
