import { type Kysely, sql } from 'kysely'
import { type Cause, keyOfCause, type Notice } from '../core/cause.ts'
import type { Database } from '../store/database.ts'
import { lockName } from '../store/lock-name.ts'
import { setLocal } from '../store/pool.ts'
import { ops } from './ops.ts'
import { readCauses } from './read-causes.ts'

/** A notice that this process, and no other until the claim ends, is to send. */
export interface ClaimedNotice extends Notice {
  /** Decimal text. */
  readonly alertId: string
}

/**
 * Writes down which causes there are now: new ones are raised, those that are no longer there are cleared. A field that
 * was discovered stays raised: there is no end to report. No other process looks or writes meanwhile: what was seen
 * before another's look is never written after it.
 */
export async function recordCauses(db: Kysely<Database>, now: Date): Promise<void> {
  await db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      // Whoever waits longer for another's look looks again later.
      await setLocal(trx, { lock_timeout: '10s' })
      await lockName(trx, 'alerts')
      const causes = await readCauses(trx, now)
      const rows = causes.map((cause) => ({ cause: keyOfCause(cause), facts: JSON.stringify(cause), raisedAt: now }))
      const raised = ops(trx)
        .insertInto('alerts')
        .values(rows)
        .onConflict((conflict) =>
          conflict
            .column('cause')
            .where('clearedAt', 'is', null)
            .doUpdateSet((eb) => ({ facts: eb.ref('excluded.facts') }))
            .whereRef('alerts.facts', 'is distinct from', 'excluded.facts'),
        )
      if (rows.length > 0) await raised.execute()
      const cleared = ops(trx).updateTable('alerts').set({ clearedAt: now }).where('clearedAt', 'is', null)
      await cleared
        .where('cause', 'not in', ['', ...rows.map(({ cause }) => cause)])
        .where((eb) => eb(eb.fn('jsonb_extract_path_text', ['facts', eb.val('kind')]), '!=', 'unknownField'))
        .execute()
    })
}

/** Takes what is due for `holdMs`, oldest first; a process that dies meanwhile leaves it to another one. */
export async function claimNotices(db: Kysely<Database>, now: Date, holdMs: number): Promise<readonly ClaimedNotice[]> {
  const due = ops(db)
    .selectFrom('alerts')
    .select('alertId')
    .where(isDueNotice)
    .where((eb) => eb.or([eb('claimedUntil', 'is', null), eb('claimedUntil', '<=', now)]))
  const rows = await ops(db)
    .updateTable('alerts')
    .set({ claimedUntil: new Date(now.getTime() + holdMs) })
    .where('alertId', 'in', due.orderBy('alertId').forUpdate().skipLocked())
    .returning((eb) => ['alertId', 'raisedAt', 'clearedAt', eb.ref('facts').$castTo<Cause>().as('cause')])
    .execute()
  return rows
    .toSorted((a, b) => Number(a.alertId) - Number(b.alertId))
    .map(({ alertId, cause, raisedAt, clearedAt }) =>
      clearedAt === null
        ? { alertId, event: 'raised', cause, at: raisedAt }
        : { alertId, event: 'cleared', cause, at: clearedAt },
    )
}

/** What went out is not sent again. */
export async function markSent(db: Kysely<Database>, notices: readonly ClaimedNotice[], now: Date): Promise<void> {
  for (const { alertId, event } of notices) {
    const sent = event === 'raised' ? { raisedSentAt: now } : { clearedSentAt: now }
    await ops(db)
      .updateTable('alerts')
      .set({ ...sent, claimedUntil: null })
      .where('alertId', '=', alertId)
      .execute()
  }
}

/**
 * Over before anybody heard of it: then there is nothing to tell. Who died while it was sent, or was not answered, left
 * the claim: somebody may have heard.
 */
// Plainer as it is written.
export const isDueNotice = sql<boolean>`(
  (cleared_at is null and raised_sent_at is null) or (cleared_at is not null and cleared_sent_at is null
    and (raised_sent_at is not null or claimed_until is not null)))`
