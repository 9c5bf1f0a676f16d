import assert from 'node:assert/strict'
import type { Kysely } from 'kysely'
import { wallTimeAt } from '../../core/wall-clock.ts'
import type { Database } from '../../db/database.ts'
import { begunFirst } from '../../pipeline/begun-first.ts'
import { estimateCalls } from '../../pipeline/estimate-calls.ts'
import type { Job } from '../../scheduler/job.ts'
import { findOpenBackfill } from '../../state/backfills.ts'
import { readCallBudget } from '../../state/read-call-budget.ts'
import { planRange } from '../backfill/plan-range.ts'
import { lastDayOf } from '../budgeted-days.ts'
import type { CliContext } from '../command.ts'
import { readBackfillJob } from './read-backfill-job.ts'

/**
 * The service's day, `YYYY-MM-DD`, on which a job's calls of version 1 will at the earliest be done; undefined where none
 * is left to make, null where no call is allowed. Asks the service nothing. @throws config.invalid, db.… codes
 */
export async function readLastDay(
  context: CliContext,
  db: Kysely<Database>,
  job: Job,
): Promise<string | undefined | null> {
  const { definition } = job
  if (definition.kind !== 'backfill') return undefined
  const { settings, startedAt, window, streams, wanted } = readBackfillJob(
    context,
    job,
    definition,
    context.clock.now(),
  )
  const { service } = settings
  const budgeted = streams.filter(({ isBudgeted }) => isBudgeted)
  const backfillId = await findOpenBackfill(db, wanted)
  const now = wallTimeAt(startedAt.getTime(), service.timeZone)
  const { onlyGaps = false } = definition
  const planStreams = planRange(db, settings, { window, now, backfillId, onlyGaps })
  const plans = await begunFirst(db, await planStreams(budgeted, () => []))
  const estimates = await estimateCalls(budgeted, plans, {
    db,
    fetchPage: () => assert.fail('calls of version 1 are estimated without asking'),
    context: { signal: context.signal },
    questionsOf: () => [],
  })
  const callsOf = new Map(estimates.flatMap((estimate) => [...(estimate.callsOf ?? [])]))
  if (callsOf.size === 0) return undefined
  return lastDayOf(callsOf, await readCallBudget(db, service, startedAt.getTime())) ?? null
}
