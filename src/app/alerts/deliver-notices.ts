import type { Kysely } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Notice } from '../../core/cause.ts'
import type { Database } from '../../store/database.ts'
import { claimNotices, markSent, releaseNotices } from '../../ledger/alerts.ts'
import { type AlertRequest, type AlertStyle, formatAlert, refusalIn, secretsOf } from './alert-formats.ts'

/** Sends a request and gives what came back, or why nothing did (without the address: that may carry a key). */
export type Post = (
  request: AlertRequest,
  signal: AbortSignal,
) => Promise<
  | { readonly status: number; readonly text: string; readonly isLate?: boolean }
  | { readonly status: undefined; readonly failure: string; readonly isLate: boolean }
>

/** How alerts go out. */
export interface AlertChannel extends AlertStyle {
  readonly url: string
  readonly post: Post
  readonly clock: Clock
  readonly log: Log
}

const WAITS_MS = [1000, 5000]
/** Longer than all attempts together can take. */
const HOLD_MS = 5 * 60_000
/** A receiver that takes its time would else be told the same again and again. */
const LATE_MS = 10 * 60_000

/**
 * Sends what is due. What the receiver does not take after three attempts stays due, for this process or another one to
 * try again later.
 * @returns whether everything went out
 */
export async function deliverNotices(
  db: Kysely<Database>,
  channel: AlertChannel,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock } = channel
  const notices = await claimNotices(db, new Date(clock.now()), HOLD_MS)
  if (notices.length === 0) return true
  let failure: Failure | undefined
  try {
    failure = await sendNotices(notices, channel, signal)
  } catch (error) {
    // Interrupted while it was on its way: due at once, and it may have arrived.
    await releaseNotices(db, notices, new Date(clock.now()))
    throw error
  }
  if (failure !== undefined) {
    await releaseNotices(db, notices, failure.isLate ? new Date(clock.now() + LATE_MS) : null)
  }
  if (failure === undefined) await markSent(db, notices, new Date(clock.now()))
  return failure === undefined
}

/** Why a receiver did not take a message. `isLate`: it may have, but did not say so in time. */
export interface Failure {
  readonly reason: string
  readonly isLate: boolean
}

/** Three attempts; one only where the answer is late. @returns why not, which is logged as well; undefined when it was taken */
export async function sendNotices(
  notices: readonly Notice[],
  channel: AlertChannel,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const { clock, log, url, post, format } = channel
  const secrets = secretsOf(url, channel)
  for (let attempt = 0; ; attempt += 1) {
    const answer = await post(formatAlert(notices, url, channel, clock.now()), signal)
    const reason = answer.status === undefined ? answer.failure : refusalIn(format, answer.status, answer.text, secrets)
    // Before the signal is looked at: what was taken is never sent again.
    if (reason === undefined) return undefined
    signal.throwIfAborted()
    // A status that refuses says that it was not taken, with its body or without.
    const isLate = answer.isLate === true && (answer.status ?? 200) < 300
    const waitMs = isLate ? undefined : WAITS_MS[attempt]
    if (waitMs === undefined) {
      log.warn('alert.unsent', { notices: notices.length, format, reason })
      return { reason, isLate }
    }
    await clock.sleep(waitMs, signal)
  }
}
