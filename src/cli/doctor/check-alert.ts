import { createWebhook } from '../../service/webhook.ts'
import { ALERT_TIMEOUT_MS } from '../../app/report-causes.ts'
import { readProxies, readSettings } from '../../config.ts'
import { readAlertSettings } from '../../config/read-alerts.ts'
import { sendNotices } from '../../app/alerts/deliver-notices.ts'
import type { CliContext } from '../command.ts'
import { passed, type ReportCheck, skipped } from './check.ts'

/** Sends a test to whoever is told of trouble, and asks for the heartbeat once. */
export async function checkAlert(context: CliContext, report: ReportCheck): Promise<void> {
  const { clock, log, signal, environment } = context
  const { alerts, proxies } = readSettings(environment, (source) => ({
    alerts: readAlertSettings(source),
    proxies: readProxies(source),
  }))
  await using webhook = createWebhook({ proxies, timeoutMs: ALERT_TIMEOUT_MS })
  const { webhook: url, format, heartbeatUrl } = alerts
  if (url === null) report(skipped('alerts', 'LIVEHOUSE_ALERT_WEBHOOK is not set: nobody is told of trouble'))
  else {
    const channel = { ...alerts, url, post: webhook.ask, clock, log }
    const notice = { event: 'raised', cause: { kind: 'test' }, at: new Date(clock.now()) } as const
    const failure = await sendNotices([notice], channel, signal)
    report(
      failure === undefined
        ? passed('alerts', `the receiver of LIVEHOUSE_ALERT_WEBHOOK has taken a test (${format})`)
        : { name: 'alerts', result: 'failed', seen: `not taken: ${failure.reason}`, mend: MEND },
    )
  }
  if (heartbeatUrl === null) {
    report(skipped('heartbeat', 'LIVEHOUSE_HEARTBEAT_URL is not set: nobody notices a process that is gone'))
    return
  }
  const answer = await webhook.ask({ url: heartbeatUrl, headers: {} }, signal)
  const seen = answer.status === undefined ? answer.failure : `status ${answer.status}`
  const isTaken = answer.status !== undefined && answer.status < 300
  report(
    isTaken
      ? passed('heartbeat', seen)
      : { name: 'heartbeat', result: 'failed', seen, mend: 'check LIVEHOUSE_HEARTBEAT_URL' },
  )
}

const MEND =
  'check LIVEHOUSE_ALERT_WEBHOOK, LIVEHOUSE_ALERT_FORMAT, and LIVEHOUSE_ALERT_SECRET or LIVEHOUSE_ALERT_KEYWORD where the robot asks for one'
