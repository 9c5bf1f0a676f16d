import type { ServiceSettings, AlertSettings } from './settings.ts'
import type { AppContext } from './context.ts'
import { createWebhook } from '../service/webhook.ts'
import type { Db } from '../store/database.ts'
import { deliverNotices } from './alerts/deliver-notices.ts'
import { recordCauses } from '../ledger/alerts.ts'

interface AlertingSettings {
  readonly alerts: AlertSettings
  readonly service: Pick<ServiceSettings, 'proxies'>
}

/** For one exchange with the receiver. */
const ALERT_TIMEOUT_MS = 5000
/** For all of it; after that the process of the run ends without it. */
const PATIENCE_MS = 10_000

/**
 * Sends alerts after a run, of what has gone wrong and of what is well again, where a receiver is set. Waits some
 * seconds at most and never fails: what could not be sent is sent after the next run, or by `livehouse serve`.
 */
export async function reportCauses(
  { clock, log, signal }: Pick<AppContext, 'clock' | 'log' | 'signal'>,
  db: Db,
  { alerts, service: { proxies } }: AlertingSettings,
): Promise<void> {
  const { webhook: url } = alerts
  if (url === null || signal.aborted) return
  await using webhook = createWebhook({ proxies, timeoutMs: ALERT_TIMEOUT_MS })
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
  try {
    const now = new Date(clock.now())
    await recordCauses(db, now)
    await deliverNotices(db, { ...alerts, url, post: webhook.ask, clock, log }, limit)
  } catch (err) {
    // The run has ended and said how; an alert that fails must not change that.
    log.warn('alert.failed', { err })
  }
}

const POLL_MS = 60_000

/** The same each minute while jobs are served: for what no run has reported, or the receiver did not take. */
export async function watchCauses(
  context: Pick<AppContext, 'clock' | 'log' | 'signal'>,
  db: Db,
  settings: AlertingSettings,
): Promise<void> {
  const { clock, signal } = context
  while (!signal.aborted) {
    await reportCauses(context, db, settings)
    await clock.sleep(POLL_MS, signal).catch(() => {})
  }
}

/** Requests `LIVEHOUSE_HEARTBEAT_URL` after a green job: its owner notices when that stops. Never fails. */
export async function requestHeartbeat(
  { log, signal }: Pick<AppContext, 'log' | 'signal'>,
  { alerts: { heartbeatUrl: url }, service: { proxies } }: AlertingSettings,
): Promise<void> {
  if (url === null || signal.aborted) return
  await using webhook = createWebhook({ proxies, timeoutMs: ALERT_TIMEOUT_MS })
  const answer = await webhook.ask({ url, headers: {} }, signal)
  const isTaken = answer.status !== undefined && answer.status < 300
  const reason = answer.status === undefined ? answer.failure : `status ${answer.status}`
  if (!isTaken) log.warn('heartbeat.failed', { reason })
}
