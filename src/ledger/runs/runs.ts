import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { RunStatus } from '../../core/outcome.ts'
import type { Db } from '../../store/database.ts'
import type { Leases } from '../leases.ts'
import { ops, type Row } from '../ops.ts'

export interface NewRun extends Pick<Row<'runs'>, 'command' | 'startedAt'> {
  /** What was asked for, without secrets. */
  readonly settings: Readonly<Record<string, unknown>>
}

export interface EndedRun {
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

/** Whether the lease of a row of `livehouse_ops.runs` is held; raw, as it is a part of a raw statement below. */
const hasLease = sql`exists (select from livehouse_ops.leases where name = 'run ' || run_id and expires_at > now())`

/** How a row of `livehouse_ops.runs` stands. */
export const recordedStatus = sql<RecordedStatus>`
  case when status = 'running' and not ${hasLease} then 'interrupted' else status end`

/**
 * Records a run and takes its lease; while that is renewed, the run counts as running. Runs whose lease has expired are
 * recorded as interrupted. @returns its id, decimal text
 */
export async function openRun(db: Db, run: NewRun, leases: Leases): Promise<string> {
  // An update, and a delete that goes by it, are plainer in SQL.
  await sql`
    with closed as (
      update livehouse_ops.runs set status = 'interrupted', finished_at = coalesce(
        (select renewed_at from livehouse_ops.leases where name = 'run ' || run_id), started_at)
      where status = 'running' and not ${hasLease}
      returning 'run ' || run_id as lease
    )
    delete from livehouse_ops.leases
    where name in (select lease from closed) or expires_at < now() - interval '1 day'`.execute(db)
  return await db.transaction().execute(async (trx) => {
    const runId = await startRun(trx, run)
    const lost = await leases.tryTake(`run ${runId}`, { db: trx })
    assert(lost !== undefined, 'the number of a run is its own')
    return runId
  })
}

/** Records a run. @returns its id, decimal text */
export async function startRun(db: Db, { settings, ...run }: NewRun): Promise<string> {
  const row = { ...run, status: 'running', settings: JSON.stringify(settings) } as const
  return (await ops(db).insertInto('runs').values(row).returning('runId').executeTakeFirstOrThrow()).runId
}

/** Records the end of a run, also where it counts as interrupted by now: its machine may have been asleep. */
export async function finishRun(db: Db, runId: string, run: EndedRun): Promise<void> {
  const end = { ...run, outcome: JSON.stringify(run.outcome) }
  await ops(db).updateTable('runs').set(end).where('runId', '=', runId).execute()
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

/** The commands of all runs on record, in order. */
export async function readCommands(db: Db): Promise<readonly string[]> {
  const rows = await ops(db).selectFrom('runs').select('command').distinct().orderBy('command').execute()
  return rows.map(({ command }) => command)
}
