import { claimNotices, markSent, recordCauses } from '../../ledger/alerts.ts'
import { createWebhook, type Webhook } from '../../service/webhook.ts'
import type { Db } from '../../store/database.ts'
import type { AppContext } from '../context.ts'
import type { ExtractionSettings } from '../settings.ts'
import { type AlertStyle, formatAlert, refusalIn } from './alert-formats.ts'
import { readCauses } from './read-causes.ts'

type AlertingSettings = Pick<ExtractionSettings, 'service' | 'alerts'>

/** The time limit for one call to the receiver. */
const ALERT_TIMEOUT_MS = 5000
/** The time limit for all alerts of a run; it then ends without them. */
const ALL_ALERTS_TIMEOUT_MS = 10_000

/**
 * Sends alerts about new causes and cleared ones, if a receiver is configured. Waits ten seconds at most for the
 * receiver and never fails: an unsent alert is sent after the next run, or by `livehouse serve`.
 */
export async function sendAlerts(
  { clock, log, signal }: Pick<AppContext, 'clock' | 'log' | 'signal'>,
  db: Db,
  { alerts, service: { proxies } }: AlertingSettings,
): Promise<void> {
  const { webhook: url } = alerts
  if (url === null || signal.aborted) return
  await using webhook = createWebhook({ proxies, timeoutMs: ALERT_TIMEOUT_MS })
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ALL_ALERTS_TIMEOUT_MS)])
  try {
    await recordCauses(db, new Date(clock.now()), readCauses)
    await deliverNotices(db, { ...alerts, url, post: webhook.ask, clock, log }, limit)
  } catch (err) {
    // The run has ended and recorded its outcome; a failed alert must not change that.
    log.warn('alert.failed', { err })
  }
}

/** Where and how to send alerts. */
export interface AlertReceiver extends AlertStyle, Pick<AppContext, 'clock' | 'log'> {
  readonly url: string
  readonly post: Webhook['ask']
}

/** The time before an alert is sent again: a receiver that answered too late may have accepted it. */
const HOLD_MS = 5 * 60_000

/** Sends the notices that are due, or logs why they were not sent. */
export async function deliverNotices(db: Db, receiver: AlertReceiver, signal: AbortSignal): Promise<void> {
  const { clock, log, url, post, format } = receiver
  const notices = await claimNotices(db, new Date(clock.now()), HOLD_MS)
  if (notices.length === 0) return
  const answer = await post(formatAlert(notices, url, receiver, clock.now()), signal)
  const reason = answer.status === undefined ? answer.failure : refusalIn(format, answer.status, answer.text)
  if (reason === undefined) await markSent(db, notices, new Date(clock.now()))
  else log.warn('alert.unsent', { notices: notices.length, format, reason })
}

const POLL_MS = 60_000

/** Calls `sendAlerts` every minute, for causes that no run has reported and alerts that the receiver refused. */
export async function watchCauses(
  context: Pick<AppContext, 'clock' | 'log' | 'signal'>,
  db: Db,
  settings: AlertingSettings,
): Promise<void> {
  const { clock, signal } = context
  while (!signal.aborted) {
    await sendAlerts(context, db, settings)
    await clock.sleep(POLL_MS, signal).catch(() => {})
  }
}

/** Requests `LIVEHOUSE_HEARTBEAT_URL` after a green job: a monitor there notices when jobs stop. Never fails. */
export async function requestHeartbeat(
  { log, signal }: Pick<AppContext, 'log' | 'signal'>,
  { alerts: { heartbeatUrl: url }, service: { proxies } }: AlertingSettings,
): Promise<void> {
  if (url === null || signal.aborted) return
  await using webhook = createWebhook({ proxies, timeoutMs: ALERT_TIMEOUT_MS })
  const answer = await webhook.ask({ url, headers: {} }, signal)
  const reason = answer.status === undefined ? answer.failure : refusalIn('json', answer.status, answer.text)
  if (reason !== undefined) log.warn('heartbeat.failed', { reason })
}
