import { type ExpressionBuilder, sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { anyOf, now, type Ops, ops } from '../ops.ts'

/** The leases held now, oldest first. `holder`: host and process. `forRun`: the run it was taken for, if any. */
export async function readLeases(db: Db) {
  const leases = ops(db).selectFrom('leases').select(['name', 'holder', 'forRun', 'takenAt as since'])
  return await leases.where('expiresAt', '>', now).orderBy('takenAt').orderBy('name').execute()
}

/** A subquery of a run's lease, held or expired. */
export function selectLeaseOfRun(eb: ExpressionBuilder<Ops, 'runs'>) {
  // The builder joins texts as parameters only.
  return eb.selectFrom('leases').where('name', '=', sql<string>`'run ' || runs.run_id`)
}

/** Deletes the leases of these runs, and any that expired over a day ago. */
export async function deleteRunLeases(db: Db, runs: readonly { readonly runId: string }[]): Promise<void> {
  const names = runs.map(({ runId }) => `run ${runId}`)
  // The builder knows no intervals.
  const yesterday = sql<Date>`now() - interval '1 day'`
  const leases = ops(db).deleteFrom('leases')
  await leases.where((eb) => eb('name', '=', anyOf(names)).or('expiresAt', '<', yesterday)).execute()
}
