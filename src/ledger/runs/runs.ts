import assert from 'node:assert/strict'
import type { ExpressionBuilder, RawBuilder } from 'kysely'
import type { RunStatus } from '../../core/outcome.ts'
import { exactJson } from '../../core/text.ts'
import type { Db } from '../../store/database.ts'
import { readPending } from '../../store/migrate.ts'
import { type Leases } from '../leases/leases.ts'
import { now, type Ops, ops, type Row } from '../ops.ts'
import { deleteRunLeases, selectLeaseOfRun } from '../leases/lease-rows.ts'

interface NewRun extends Pick<Row<'runs'>, 'command' | 'startedAt'> {
  /** What was asked for, without secrets. */
  readonly settings: Readonly<Record<string, unknown>>
}

interface EndedRun {
  readonly status: RunStatus
  readonly finishedAt: Date
  readonly resumesAt: Date | null
  /** The summary that `--json` prints. */
  readonly outcome: unknown
}

/** How a run stands: one whose lease has expired is `interrupted`, whether that is on record yet or not. */
export type RecordedStatus = RunStatus | 'running' | 'interrupted'

/** Whether it ended by itself; an interrupted run did not. */
export function hasEnded({ status }: { readonly status: RecordedStatus }): boolean {
  return status !== 'running' && status !== 'interrupted'
}

/** How a row stands. */
export function recordedStatus(eb: ExpressionBuilder<Ops, 'runs'>) {
  const status = eb.case().when(isAbandoned(eb)).then('interrupted').else(eb.ref('status')).end()
  return status.$castTo<RecordedStatus>()
}

/** Whether a run has not ended, and its lease has expired. */
function isAbandoned(eb: ExpressionBuilder<Ops, 'runs'>) {
  const held = selectLeaseOfRun(eb).select('name').where('expiresAt', '>', now)
  return eb('status', '=', 'running').and(eb.not(eb.exists(held)))
}

/**
 * Records a run and takes its lease; while that is renewed, the run counts as running. Runs whose lease has expired are
 * recorded as interrupted. @returns its id, decimal text @throws db.newer
 */
export async function openRun(db: Db, run: NewRun, leases: Leases): Promise<string> {
  // A newer livehouse may have migrated the database since this process opened it.
  await readPending(db)
  const closed = await ops(db)
    .updateTable('runs')
    .set((eb) => {
      const renewedAt = selectLeaseOfRun(eb).select('renewedAt')
      return { status: 'interrupted', finishedAt: eb.fn.coalesce(renewedAt, 'startedAt') }
    })
    .where(isAbandoned)
    .returning('runId')
    .execute()
  await deleteRunLeases(db, closed)
  const runId = await db.transaction().execute(async (trx) => {
    const id = await startRun(trx, run)
    const lost = await leases.tryTake(`run ${id}`, { db: trx })
    assert(lost !== undefined, 'the number of a run is its own')
    return id
  })
  leases.keep(`run ${runId}`)
  return runId
}

/** Records a run. @returns its id, decimal text */
export async function startRun(db: Db, { settings, ...run }: NewRun): Promise<string> {
  const row = { ...run, status: 'running', settings: JSON.stringify(settings) } as const
  return (await ops(db).insertInto('runs').values(row).returning('runId').executeTakeFirstOrThrow()).runId
}

/** Records the end of a run, also where it counts as interrupted by now: its machine may have been asleep. */
export async function finishRun(db: Db, runId: string, run: EndedRun): Promise<void> {
  const end = { ...run, outcome: exactJson(run.outcome) }
  await ops(db).updateTable('runs').set(end).where('runId', '=', runId).execute()
}

/** What a run was asked for, and when it went on; undefined where there is none of this number. */
export async function readRun(
  db: Db,
  runId: string,
): Promise<Pick<Row<'runs'>, 'settings' | 'startedAt' | 'finishedAt'> | undefined> {
  const runs = ops(db).selectFrom('runs').select(['settings', 'startedAt', 'finishedAt'])
  return await runs.where('runId', '=', runId).executeTakeFirst()
}

/** How far a run has come with one stream. */
export interface SavedProgress {
  readonly rows: number
  /** Slices, or the partitions that workers have; planned so far. */
  readonly parts: number
  readonly endedParts: number
  /** From 0 to 1, by pages as far as these are known. */
  readonly share: number
}

/** Records how far a run has come, by stream, for other processes to show. */
export async function saveProgress(
  db: Db,
  runId: string,
  progress: Readonly<Record<string, SavedProgress>>,
): Promise<void> {
  const saved = { progress: JSON.stringify(progress) }
  await ops(db).updateTable('runs').set(saved).where('runId', '=', runId).execute()
}

/** Whether half of the runs on record or more began after an instant, this machine's clock then being behind. */
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

/** The commands of all runs on record, in order. */
export async function readCommands(db: Db): Promise<readonly string[]> {
  const rows = await ops(db).selectFrom('runs').select('command').distinct().orderBy('command').execute()
  return rows.map(({ command }) => command)
}

/** A query of the numbers of the runs that had not ended at an instant: few beside all slices. */
export function selectRunsSince(db: Db, since: Date | RawBuilder<Date>) {
  const runs = ops(db).selectFrom('runs').select('runId')
  return runs.where((eb) => eb('finishedAt', 'is', null).or('finishedAt', '>=', since))
}
