import assert from 'node:assert/strict'
import type { Kysely } from 'kysely'
import type { Job } from '../core/define-job.ts'
import { DAY, formatWallDate, parseWallTime, wallTimeAt } from '../core/wall-clock.ts'
import { findOpenBackfill } from '../ledger/backfills.ts'
import { type CallBudget, readCallBudget } from '../ledger/call-budget.ts'
import type { Database } from '../store/database.ts'
import { estimateCalls, type StreamEstimate } from '../sync/estimate-calls.ts'
import { resumeOpenFirst } from '../sync/plan-again.ts'
import type { AppContext } from './context.ts'
import { backfillPlan } from './run-backfill.ts'
import type { ExtractionSettings } from './settings.ts'
import { wantedOfBackfill } from './run-job.ts'

/**
 * The service's day, `YYYY-MM-DD`, on which a job's calls of version 1 will at the earliest be done; undefined where none
 * is left to make, null where no call is allowed. Asks the service nothing. @throws db.… codes
 */
export async function readLastDay(
  { clock, signal }: Pick<AppContext, 'clock' | 'signal'>,
  db: Kysely<Database>,
  job: Job,
  settings: ExtractionSettings,
): Promise<string | undefined | null> {
  const { definition } = job
  if (definition.kind !== 'backfill') return undefined
  const nowMs = clock.now()
  const { window, streams, wanted } = wantedOfBackfill(job, definition, settings, nowMs)
  const { service } = settings
  const budgeted = streams.filter(({ isBudgeted }) => isBudgeted)
  const backfillId = await findOpenBackfill(db, wanted)
  const range = { window, backfillId, onlyGaps: wanted.onlyGaps }
  const planStreams = backfillPlan(db, settings, range, wallTimeAt(nowMs, service.timeZone))
  const plans = await resumeOpenFirst(db, await planStreams(budgeted, () => []), nowMs)
  const estimates = await estimateCalls(budgeted, plans, {
    db,
    fetchPage: () => assert.fail('calls of version 1 are estimated without asking'),
    context: { signal },
    questionsOf: () => [],
  })
  const callsOf = new Map(estimates.flatMap((estimate) => [...(estimate.callsOf ?? [])]))
  if (callsOf.size === 0) return undefined
  return lastDayOf(callsOf, await readCallBudget(db, service, nowMs)) ?? null
}

/** The service's day on which the last of these calls can be made, `YYYY-MM-DD`; undefined where there is none. */
export function lastDayOf(callsOf: NonNullable<StreamEstimate['callsOf']>, budget: CallBudget): string | undefined {
  const days = daysUntilDone(callsOf, budget)
  return days === undefined ? undefined : dateAfter(days, budget)
}

/**
 * Today included. Where each channel has calls of its own, none waits for another. But for the first day, the first call of each looks
 * at the page where the day before stopped.
 */
export function daysUntilDone(
  callsOf: NonNullable<StreamEstimate['callsOf']>,
  { budget, scope, scopes }: CallBudget,
): number | undefined {
  const leftOfScope = (name: string) => scopes.find((each) => each.scope === name)?.left
  const leftToday = (name: string) => leftOfScope(name) ?? leftOfScope('account') ?? budget
  const total = [...callsOf.values()].reduce((sum, calls) => sum + calls, 0)
  const needs = scope === 'account' ? [['account', total] as const] : [...callsOf]
  const later = needs.map(([name, calls]) => {
    const left = leftToday(name)
    if (calls <= left) return 0
    return Number(left === 0) + Math.ceil(Math.max(0, calls - (left || budget)) / Math.max(0, budget - 1))
  })
  const most = Math.max(0, ...later)
  return Number.isFinite(most) ? most + 1 : undefined
}

/** The service's day after so many days of calls, today included. */
export function dateAfter(days: number, { serviceDay }: CallBudget): string {
  return formatWallDate((parseWallTime(serviceDay) ?? 0) + (days - 1) * DAY)
}
