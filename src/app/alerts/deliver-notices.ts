import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Webhook } from '../../service/webhook.ts'
import type { Db } from '../../store/database.ts'
import { claimNotices, markSent } from '../../ledger/alerts.ts'
import { type AlertStyle, formatAlert, refusalIn } from './alert-formats.ts'

/** Sends a request and gives what came back, or why nothing did (without the address: that may carry a key). */
export type Post = Webhook['ask']

/** How alerts go out. */
export interface AlertChannel extends AlertStyle {
  readonly url: string
  readonly post: Post
  readonly clock: Clock
  readonly log: Log
}

/** What the receiver refuses is sent again after this time: one that answers too late may have taken it. */
const HOLD_MS = 5 * 60_000

/** Sends what is due. @returns whether everything went out; why not is logged */
export async function deliverNotices(db: Db, channel: AlertChannel, signal: AbortSignal): Promise<boolean> {
  const { clock, log, url, post, format } = channel
  const notices = await claimNotices(db, new Date(clock.now()), HOLD_MS)
  if (notices.length === 0) return true
  const answer = await post(formatAlert(notices, url, channel, clock.now()), signal)
  const reason = answer.status === undefined ? answer.failure : refusalIn(format, answer.status, answer.text)
  if (reason === undefined) await markSent(db, notices, new Date(clock.now()))
  else log.warn('alert.unsent', { notices: notices.length, format, reason })
  return reason === undefined
}
