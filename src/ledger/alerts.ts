import type { ExpressionBuilder } from 'kysely'
import { type Cause, keyOfCause, type Notice } from '../core/cause.ts'
import type { Db } from '../store/database.ts'
import { lockName } from '../store/lock-name.ts'
import { setLocal } from '../store/driver.ts'
import { type Ops, ops } from './ops.ts'

/** A notice that this process has claimed: until the claim expires, no other process sends it. */
interface ClaimedNotice extends Notice {
  readonly alertId: string
}

/**
 * Compares the causes that there are now with those on record: raises new ones, and clears those that are gone. An
 * unknown field is never cleared: nothing ends it. One process does this at a time, from reading the causes on: else an
 * older reading could overwrite a newer one.
 */
export async function recordCauses(
  db: Db,
  now: Date,
  readCauses: (db: Db, now: Date) => Promise<readonly Cause[]>,
): Promise<void> {
  await db
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      // A process that waits longer than this tries again later.
      await setLocal(trx, { lock_timeout: '10s' })
      await lockName(trx, 'alerts')
      const causes = await readCauses(trx, now)
      // Names that are shortened, or shown without a number in them, may have become the same.
      const distinct = new Map(causes.map((cause) => [keyOfCause(cause), JSON.stringify(cause)]))
      const rows = Array.from(distinct, ([cause, facts]) => ({ cause, facts, raisedAt: now }))
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

/** Claims the notices that are due, oldest first, for `holdMs`; those of a process that dies go to another one. */
export async function claimNotices(db: Db, now: Date, holdMs: number): Promise<readonly ClaimedNotice[]> {
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

/** Notes that notices were sent: they are not due again. */
export async function markSent(db: Db, notices: readonly ClaimedNotice[], now: Date): Promise<void> {
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
 * Whether an alert has a notice to send. Where it is cleared before it was sent, there is none. A claim that is left
 * over means that it may have been sent: the process died while it sent, or had no answer.
 */
export function isDueNotice(eb: ExpressionBuilder<Ops, 'alerts'>) {
  const mayBeKnown = eb('raisedSentAt', 'is not', null).or('claimedUntil', 'is not', null)
  return eb.or([
    eb('clearedAt', 'is', null).and('raisedSentAt', 'is', null),
    eb('clearedAt', 'is not', null).and('clearedSentAt', 'is', null).and(mayBeKnown),
  ])
}

/** The alerts that were raised in a range of time, the newest first. `from`: none where it is null. */
export async function readAlertsRaised(
  db: Db,
  { from, to, most }: { readonly from: Date | null; readonly to: Date | undefined; readonly most: number },
) {
  return await ops(db)
    .selectFrom('alerts')
    .select((eb) => [eb.ref('facts').$castTo<Cause>().as('cause'), 'raisedAt', 'clearedAt'])
    .where('raisedAt', '>=', from)
    .where((eb) => (to ? eb('raisedAt', '<', to) : eb.lit(true)))
    .orderBy('alertId', 'desc')
    .limit(most)
    .execute()
}
