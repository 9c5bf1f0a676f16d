import { type Kysely, sql } from 'kysely'
import { type Cause, keyOfCause, type Notice } from '../core/cause.ts'
import type { Database } from '../store/database.ts'
import { lockName } from '../store/lock-name.ts'
import { readCauses } from './read-causes.ts'

/** A notice that this process, and no other until the claim ends, is to send. */
export interface ClaimedNotice extends Notice {
  /** Decimal text. */
  readonly alertId: string
}

/**
 * Writes down which causes there are now: new ones are raised, those that are no longer there are cleared. A field that was
 * discovered stays raised: there is no end to report. No other process looks or writes meanwhile: what was seen before
 * another's look is never written after it.
 */
export async function recordCauses(db: Kysely<Database>, now: Date): Promise<void> {
  await db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      await sql`select set_config('lock_timeout', ${String(LONGEST_LOCK_MS)}, true)`.execute(trx)
      await lockName(trx, 'alerts')
      const causes = await readCauses(trx, now)
      const keys = causes.map(keyOfCause)
      await sql`
        insert into livehouse_ops.alerts (cause, facts, raised_at)
        select cause, facts::jsonb, ${now} from unnest(${keys}::text[], ${causes.map((cause) => JSON.stringify(cause))}::text[])
          as given (cause, facts)
        on conflict (cause) where cleared_at is null do update set facts = excluded.facts
          where alerts.facts is distinct from excluded.facts`.execute(trx)
      await sql`
        update livehouse_ops.alerts set cleared_at = ${now}
        where cleared_at is null and cause <> all(${keys}::text[])
          and facts ->> 'kind' <> 'unknownField'`.execute(trx)
    })
}

/** Whoever waits longer for another's look looks again later. */
const LONGEST_LOCK_MS = 10_000

/** Takes what is due for `holdMs`, oldest first; a process that dies meanwhile leaves it to another one. */
export async function claimNotices(db: Kysely<Database>, now: Date, holdMs: number): Promise<readonly ClaimedNotice[]> {
  const { rows } = await sql<NoticeRow>`
    update livehouse_ops.alerts set claimed_until = ${new Date(now.getTime() + holdMs)}
    where alert_id in (
      select alert_id from livehouse_ops.alerts
      where ${isDueNotice} and (claimed_until is null or claimed_until <= ${now})
      order by alert_id for update skip locked)
    returning alert_id, facts, raised_at, cleared_at`.execute(db)
  return rows
    .toSorted((a, b) => Number(a.alert_id) - Number(b.alert_id))
    .map(({ alert_id: alertId, facts, raised_at: raisedAt, cleared_at: clearedAt }) =>
      clearedAt === null
        ? { alertId, event: 'raised', cause: facts, at: raisedAt }
        : { alertId, event: 'cleared', cause: facts, at: clearedAt },
    )
}

/** What went out is not sent again. */
export async function markSent(db: Kysely<Database>, notices: readonly ClaimedNotice[], now: Date): Promise<void> {
  for (const event of ['raised', 'cleared'] as const) {
    const column = sql.ref(`${event}_sent_at`)
    const ids = notices.filter((notice) => notice.event === event).map(({ alertId }) => alertId)
    await sql`update livehouse_ops.alerts set ${column} = ${now}, claimed_until = null
      where alert_id = any(${ids}::bigint[])`.execute(db)
  }
}

/**
 * Over before anybody heard of it: then there is nothing to tell. Who died while it was sent, or was not answered, left the claim:
 * somebody may have heard.
 */
export const isDueNotice = sql<boolean>`(
  (cleared_at is null and raised_sent_at is null)
  or (cleared_at is not null and (raised_sent_at is not null or claimed_until is not null) and cleared_sent_at is null))`

interface NoticeRow {
  readonly alert_id: string
  readonly facts: Cause
  readonly raised_at: Date
  readonly cleared_at: Date | null
}
