import type { ExpressionBuilder } from 'kysely'
import { type Cause, keyOfCause, type Notice } from '../core/cause.ts'
import type { Db } from '../store/database.ts'
import { setLocal } from '../store/driver.ts'
import { lockName } from '../store/lock-name.ts'
import { type Ops, ops } from './ops.ts'

/** A notice that this process has claimed: until the claim expires, no other process sends it. */
interface ClaimedNotice extends Notice {
  readonly alertId: string
}

/**
 * Compares the present causes with those on record: raises an alert for a new one, and clears the alert of one that is
 * gone. An unknown field is never cleared, as nothing ends it. The lock is held while the causes are read: otherwise a
 * process with an older reading could overwrite a newer one.
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
      // A process that would wait longer fails here, and tries again later.
      await setLocal(trx, { lock_timeout: '10s' })
      await lockName(trx, 'alerts')
      const causes = await readCauses(trx, now)
      // Two causes may have one key, as keys shorten names and leave numbers out.
      const factsByCause = new Map(causes.map((cause) => [keyOfCause(cause), JSON.stringify(cause)]))
      const rows = Array.from(factsByCause, ([cause, facts]) => ({ cause, facts, raisedAt: now }))
      const upsert = ops(trx)
        .insertInto('alerts')
        .values(rows)
        .onConflict((conflict) =>
          conflict
            .column('cause')
            .where('clearedAt', 'is', null)
            .doUpdateSet((eb) => ({ facts: eb.ref('excluded.facts') }))
            .whereRef('alerts.facts', 'is distinct from', 'excluded.facts'),
        )
      if (rows.length > 0) await upsert.execute()
      const clearing = ops(trx).updateTable('alerts').set({ clearedAt: now }).where('clearedAt', 'is', null)
      await clearing
        .where('cause', 'not in', ['', ...rows.map(({ cause }) => cause)])
        .where((eb) => eb(eb.fn('jsonb_extract_path_text', ['facts', eb.val('kind')]), '!=', 'unknownField'))
        .execute()
    })
}

/** Claims the due notices for `holdMs`, oldest first. If this process dies, another one can claim them after that. */
export async function claimNotices(db: Db, now: Date, holdMs: number): Promise<readonly ClaimedNotice[]> {
  const dueAlerts = ops(db)
    .selectFrom('alerts')
    .select('alertId')
    .where(isDueNotice)
    .where((eb) => eb.or([eb('claimedUntil', 'is', null), eb('claimedUntil', '<=', now)]))
  const rows = await ops(db)
    .updateTable('alerts')
    .set({ claimedUntil: new Date(now.getTime() + holdMs) })
    .where('alertId', 'in', dueAlerts.orderBy('alertId').forUpdate().skipLocked())
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

/** Records that notices were sent, so that they are not due again. */
export async function markSent(db: Db, notices: readonly ClaimedNotice[], now: Date): Promise<void> {
  for (const { alertId, event } of notices) {
    const sentColumns = event === 'raised' ? { raisedSentAt: now } : { clearedSentAt: now }
    await ops(db)
      .updateTable('alerts')
      .set({ ...sentColumns, claimedUntil: null })
      .where('alertId', '=', alertId)
      .execute()
  }
}

/**
 * Whether an alert has a notice to send. An alert that was cleared before anyone heard of it has none. A claim that is
 * still set means that the notice may have gone out: its process died while sending, or received no answer.
 */
export function isDueNotice(eb: ExpressionBuilder<Ops, 'alerts'>) {
  const mayHaveBeenSent = eb('raisedSentAt', 'is not', null).or('claimedUntil', 'is not', null)
  return eb.or([
    eb('clearedAt', 'is', null).and('raisedSentAt', 'is', null),
    eb('clearedAt', 'is not', null).and('clearedSentAt', 'is', null).and(mayHaveBeenSent),
  ])
}

/** The alerts raised in a range of time, newest first; none if `from` is null. */
export async function readAlertsRaised(
  db: Db,
  { from, to, limit }: { readonly from: Date | null; readonly to: Date | undefined; readonly limit: number },
) {
  return await ops(db)
    .selectFrom('alerts')
    .select((eb) => [eb.ref('facts').$castTo<Cause>().as('cause'), 'raisedAt', 'clearedAt'])
    .where('raisedAt', '>=', from)
    .where((eb) => (to ? eb('raisedAt', '<', to) : eb.lit(true)))
    .orderBy('alertId', 'desc')
    .limit(limit)
    .execute()
}
