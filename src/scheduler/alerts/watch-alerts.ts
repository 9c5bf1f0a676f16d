import type { Kysely } from 'kysely'
import { hostname } from 'node:os'
import { type AlertChannel, deliverNotices, sendNotices } from '../../app/alerts/deliver-notices.ts'
import type { AppContext } from '../../app/context.ts'
import { ALERT_TIMEOUT_MS } from '../../app/report-causes.ts'
import type { AlertSettings, ServiceSettings } from '../../app/settings.ts'
import type { Cause, Notice } from '../../core/cause.ts'
import { sqlStateOf } from '../../core/outcome.ts'
import { recordCauses } from '../../ledger/alerts.ts'
import { createWebhook } from '../../service/webhook.ts'
import type { Database } from '../../store/database.ts'
import { isOfDatabase } from '../serve-jobs.ts'

const POLL_MS = 60_000
/** A database that is started anew is back sooner. */
const SETTLED_MS = 120_000

interface AlertWatch {
  readonly db: Kysely<Database>
  readonly settings: AlertSettings
  readonly service: Pick<ServiceSettings, 'proxies'>
}

/**
 * Looks every minute for what goes wrong while jobs are served, and reports it, until the signal aborts; ends at once
 * where there is no receiver. Fails nothing.
 */
export async function watchAlerts(context: AppContext, { db, settings, service }: AlertWatch): Promise<void> {
  const { clock, log, signal } = context
  const { webhook: url } = settings
  if (url === null) return
  await using webhook = createWebhook({ proxies: service.proxies, timeoutMs: ALERT_TIMEOUT_MS })
  const look = createLook({
    db,
    host: hostname(),
    channel: { ...settings, url, post: webhook.ask, clock, log },
    signal,
  })
  while (!signal.aborted) {
    await look().catch((err: unknown) => {
      if (!signal.aborted) log.warn('alert.failed', { err })
    })
    await clock.sleep(POLL_MS, signal).catch(() => {})
  }
}

export interface WatchOptions {
  readonly db: Kysely<Database>
  readonly channel: AlertChannel
  readonly signal: AbortSignal
  /** Of this process, for people. */
  readonly host: string
}

/**
 * One look. That the database does not answer cannot be recorded there: each process reports it once it has lasted, and
 * once more when it is over.
 */
export function createLook({ db, channel, signal, host }: WatchOptions): () => Promise<void> {
  const { clock } = channel
  let awaySinceMs: number | undefined
  /** What the receiver has taken. */
  let reported: Extract<Cause, { kind: 'database' }> | undefined
  const send = async (event: Notice['event'], cause: Cause): Promise<boolean> =>
    await sendNotices([{ event, cause, at: new Date(clock.now()) }], channel, signal)
  return async () => {
    try {
      await recordCauses(db, new Date(clock.now()))
    } catch (error) {
      if (!isOfDatabase(error)) throw error
      awaySinceMs ??= clock.now()
      if (reported !== undefined || clock.now() - awaySinceMs < SETTLED_MS) return
      const cause = { kind: 'database', host, sqlState: sqlStateOf(error).sqlState ?? null } as const
      if (await send('raised', cause)) reported = cause
      return
    }
    awaySinceMs = undefined
    if (reported !== undefined && (await send('cleared', reported))) reported = undefined
    await deliverNotices(db, channel, signal)
  }
}
