import { type ExpressionBuilder, sql } from 'kysely'
import { type Cause, keyOfCause, type Notice } from '../core/cause.ts'
import type { RunStatus } from '../core/outcome.ts'
import type { Db } from '../store/database.ts'
import { lockName } from '../store/lock-name.ts'
import { setLocal } from '../store/driver.ts'
import { type Ops, ops } from './ops.ts'

/** A notice that this process has claimed: until the claim expires, no other process sends it. */
export interface ClaimedNotice extends Notice {
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

type LastRun = Omit<Extract<Cause, { kind: 'run' }>, 'kind' | 'status' | 'reason'>

/**
 * How the last run of each command ended, such as `run nightly`. Runs under way are left out, and so are those that
 * were only interrupted: the next run resumes them. `reason`: why it did not begin or has no end, where no run says so.
 */
export async function readLastRuns(db: Db) {
  // Counted in the database: the JSON document of a run may hold thousands of errors.
  const { rows } = await sql<LastRun & { readonly status: RunStatus; readonly reason: string | null }>`
    with named as (
      select command as name, run_id, status, outcome, finished_at, null as reason
      from (select distinct command from livehouse_ops.runs where command <> 'demo') as commands cross join lateral (
        select run_id, status, outcome, finished_at from livehouse_ops.runs
        where runs.command = commands.command and status not in ('running', 'interrupted')
          and not coalesce(outcome -> 'errors' <> '[]'
            and not jsonb_path_exists(outcome, '$.errors[*] ? (@.code != "run.interrupted")'), false)
        order by finished_at desc nulls last, run_id desc limit 1
      ) as last_run
      union all
      -- Jobs that failed before a run began (a missing setting, say) or whose run never ended. A failed run says why.
      select 'run ' || job, null, outcome, null, finished_at, error
      from (select distinct on (job) * from livehouse_ops.job_runs where run_id is null and status = 'ended'
        order by job, finished_at desc nulls last) as job_run
      where not exists (select from livehouse_ops.runs where command = 'run ' || job and status = 'failed'
        and finished_at between job_run.started_at and job_run.finished_at)
    ), last as (
      select distinct on (name) * from named order by name, finished_at desc nulls last, run_id desc nulls last
    )
    select name, run_id as "runId", status, reason, coalesce((
      select jsonb_agg(jsonb_build_object('stream', stream, 'code', code, 'count', count) order by stream, code)
      from (select e ->> 'stream' as stream, e ->> 'code' as code, count(*)
        from jsonb_array_elements(last.outcome -> 'errors') as e group by 1, 2) as counted
    ), '[]') as problems
    from last order by name`.execute(db)
  return rows
}

/** Fields that the service's documents do not name, and that came for the first time after `since`. */
export async function readUnknownFields(db: Db, since: Date) {
  const found = ops(db).selectFrom('unknown_fields').select(['stream', 'field']).where('firstSeenAt', '>', since)
  return await found.orderBy('stream').orderBy('field').execute()
}
