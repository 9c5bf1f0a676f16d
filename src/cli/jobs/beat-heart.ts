import { createWebhook } from '../../api/webhook.ts'
import { readAlertSettings } from '../../config/read-alerts.ts'
import { readProxies, readSettings } from '../../config.ts'
import type { CliContext } from '../command.ts'
import { ALERT_TIMEOUT_MS } from '../tell-of-causes.ts'

/** After a green job: asks `LIVEHOUSE_HEARTBEAT_URL`, so that somebody else notices when it is no longer asked. Fails nothing. */
export async function beatHeart({ environment, log, signal }: CliContext): Promise<void> {
  const { url, proxies } = readSettings(environment, (source) => ({
    url: readAlertSettings(source).heartbeatUrl,
    proxies: readProxies(source),
  }))
  if (url === null || signal.aborted) return
  await using webhook = createWebhook({ proxies, timeoutMs: ALERT_TIMEOUT_MS })
  const answer = await webhook.ask({ url, headers: {} }, signal)
  const isTaken = answer.status !== undefined && answer.status < 300
  const reason = answer.status === undefined ? answer.failure : `status ${answer.status}`
  if (!isTaken) log.warn('heartbeat.failed', { reason })
}
