import type { Kysely } from 'kysely'
import { createWebhook } from '../api/webhook.ts'
import type { AlertSettings } from '../config/read-alerts.ts'
import type { ServiceSettings } from '../config.ts'
import type { Database } from '../db/database.ts'
import { deliverNotices } from '../scheduler/alerts/deliver-notices.ts'
import { recordCauses } from '../state/alerts.ts'
import { readCauses, STATE_CAUSES } from '../state/read-causes.ts'
import type { CliContext } from './command.ts'

/** For one exchange with the receiver. */
export const ALERT_TIMEOUT_MS = 5000
/** For all of it, after which the run's process goes on to its end. */
const PATIENCE_MS = 10_000

/**
 * After a run: tells what has gone wrong, and what no longer does, where a receiver is set. Waits for it some seconds at
 * most, and fails nothing: what could not be sent is sent after the next run, or by `livehouse serve`.
 */
export async function tellOfCauses(
  { clock, log, signal }: Pick<CliContext, 'clock' | 'log' | 'signal'>,
  db: Kysely<Database>,
  settings: AlertSettings,
  proxies: ServiceSettings['proxies'],
): Promise<void> {
  const { webhook: url } = settings
  if (url === null || signal.aborted) return
  await using webhook = createWebhook({ proxies, timeoutMs: ALERT_TIMEOUT_MS })
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
  try {
    const now = new Date(clock.now())
    await recordCauses(db, { kinds: STATE_CAUSES }, () => readCauses(db, now), now)
    await deliverNotices(db, { ...settings, url, post: webhook.ask, clock, log }, limit)
  } catch (err) {
    // The run has ended and said how; that nobody could be told must not change it.
    log.warn('alert.failed', { err })
  }
}
