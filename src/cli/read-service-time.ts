import type { Connection } from '../api/connect.ts'
import type { Clock } from '../core/clock.ts'
import type { CliContext } from './command.ts'

/** Clocks that differ by less are the same: a call takes its time. */
export const LARGEST_DIFFERENCE_SECONDS = 60

/**
 * Asks the service for its time before anything is planned: every bound of what is read is measured by its clock. Warns of a
 * clock of this machine that differs, and of a service that tells none: then this machine's counts.
 * @returns the service's clock
 * @throws LivehouseError `api.unreachable`, `api.timeout`
 */
export async function readServiceTime(
  { log, signal }: Pick<CliContext, 'log' | 'signal'>,
  { serviceClock }: Pick<Connection, 'serviceClock'>,
): Promise<Clock> {
  await serviceClock.refresh(signal)
  const aheadMs = serviceClock.ownAheadMs()
  if (aheadMs === undefined) {
    log.warn('clock.unknown', {
      reason: "the service's answers have no Date header: this machine's clock counts instead",
    })
  } else if (Math.abs(aheadMs) > LARGEST_DIFFERENCE_SECONDS * 1000) {
    const reason = "this machine's clock differs from the service's, which counts: synchronise it (NTP)"
    log.warn('clock.differs', { aheadSeconds: Math.round(aheadMs / 1000), reason })
  }
  return serviceClock
}
