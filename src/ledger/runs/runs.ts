import assert from 'node:assert/strict'
import type { ExpressionBuilder, RawBuilder } from 'kysely'
import type { RunStatus } from '../../core/outcome.ts'
import { exactJson } from '../../core/text.ts'
import type { Db } from '../../store/database.ts'
import { shareName } from '../../store/lock-name.ts'
import { requireMigrated } from '../../store/migrate.ts'
import { deleteRunLeases, selectLeaseOfRun } from '../leases/lease-rows.ts'
import { type Leases } from '../leases/leases.ts'
import { now, type Ops, ops, type Row } from '../ops.ts'

interface NewRun extends Pick<Row<'runs'>, 'command' | 'startedAt'> {
  /** The arguments of the run, without secrets. */
  readonly settings: Readonly<Record<string, unknown>>
}

interface EndedRun {
  readonly status: RunStatus
  readonly finishedAt: Date
  readonly resumesAt: Date | null
  /** The summary that `--json` prints. */
  readonly outcome: unknown
}

/** The status of a run. If its lease has expired it is `interrupted`, whether that is on record yet or not. */
export type RecordedStatus = RunStatus | 'running' | 'interrupted'

/** Whether a run ended by itself; an interrupted one did not. */
export function hasEnded({ status }: { readonly status: RecordedStatus }): boolean {
  return status !== 'running' && status !== 'interrupted'
}

/** The status of a row of `runs`, as an expression. */
export function recordedStatus(eb: ExpressionBuilder<Ops, 'runs'>) {
  const status = eb.case().when(isAbandoned(eb)).then('interrupted').else(eb.ref('status')).end()
  return status.$castTo<RecordedStatus>()
}

/** Whether a run is on record as running, but its lease has expired or is gone. */
function isAbandoned(eb: ExpressionBuilder<Ops, 'runs'>) {
  const held = selectLeaseOfRun(eb).select('name').where('expiresAt', '>', now)
  return eb('status', '=', 'running').and(eb.not(eb.exists(held)))
}

/**
 * Records a run and takes its lease: while that is renewed, the run counts as running. Other runs whose lease has
 * expired are recorded as interrupted. @returns the run's id, decimal text @throws db.newer, db.pendingMigrations
 */
export async function openRun(db: Db, run: NewRun, leases: Leases): Promise<string> {
  const runId = await db.transaction().execute(async (trx) => {
    // Another livehouse may have changed the schema since this process opened the database. If it does so now, wait.
    await shareName(trx, 'migration')
    await requireMigrated(trx)
    const id = await startRun(trx, run)
    const lost = await leases.tryTake(`run ${id}`, { db: trx })
    assert(lost !== undefined, 'the number of a run is its own')
    return id
  })
  leases.startRenewing(`run ${runId}`)
  const abandonedRuns = await ops(db)
    .updateTable('runs')
    .set((eb) => {
      const renewedAt = selectLeaseOfRun(eb).select('renewedAt')
      return { status: 'interrupted', finishedAt: eb.fn.coalesce(renewedAt, 'startedAt') }
    })
    .where(isAbandoned)
    .returning('runId')
    .execute()
  await deleteRunLeases(db, abandonedRuns)
  return runId
}

/** Records a run without a lease. @returns its id, decimal text */
export async function startRun(db: Db, { settings, ...run }: NewRun): Promise<string> {
  const row = { ...run, status: 'running', settings: JSON.stringify(settings) } as const
  return (await ops(db).insertInto('runs').values(row).returning('runId').executeTakeFirstOrThrow()).runId
}

/** Records the end of a run, even if it counts as interrupted by now: its machine may have been asleep. */
export async function finishRun(db: Db, runId: string, run: EndedRun): Promise<void> {
  const end = { ...run, outcome: exactJson(run.outcome) }
  await ops(db).updateTable('runs').set(end).where('runId', '=', runId).execute()
}

/** The arguments of a run, its start and its end; undefined if there is no run with this number. */
export async function readRun(db: Db, runId: string) {
  const runs = ops(db).selectFrom('runs').select(['settings', 'startedAt', 'finishedAt'])
  return await runs.where('runId', '=', runId).executeTakeFirst()
}

/** The progress of a run in one stream. */
export interface SavedProgress {
  readonly rows: number
  /** The slices planned so far; in a shared run, the partitions that workers have. */
  readonly parts: number
  readonly endedParts: number
  /** From 0 to 1, by pages where their number is known. */
  readonly share: number
}

/** Records the progress of a run by stream, for other processes to show. */
export async function saveProgress(
  db: Db,
  runId: string,
  progress: Readonly<Record<string, SavedProgress>>,
): Promise<void> {
  const saved = { progress: JSON.stringify(progress) }
  await ops(db).updateTable('runs').set(saved).where('runId', '=', runId).execute()
}

/** Whether half of the recorded runs or more began after an instant: then this machine's clock must be behind. */
export async function areMostRunsAfter(db: Db, time: Date): Promise<boolean> {
  const { later, all } = await ops(db)
    .selectFrom('runs')
    .select(({ fn }) => [
      fn.countAll<string>().filterWhere('startedAt', '>', time).as('later'),
      fn.countAll<string>().as('all'),
    ])
    .executeTakeFirstOrThrow()
  return 2 * Number(later) >= Number(all)
}

/** The distinct commands of all runs on record, in order. */
export async function readCommands(db: Db): Promise<readonly string[]> {
  const rows = await ops(db).selectFrom('runs').select('command').distinct().orderBy('command').execute()
  return rows.map(({ command }) => command)
}

/** A subquery of the numbers of the runs that had not ended at an instant: few compared with all slices. */
export function selectRunsSince(db: Db, since: Date | RawBuilder<Date>) {
  const runs = ops(db).selectFrom('runs').select('runId')
  return runs.where((eb) => eb('finishedAt', 'is', null).or('finishedAt', '>=', since))
}
