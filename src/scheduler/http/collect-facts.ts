import type { Kysely } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import { wallTimeAt } from '../../core/wall-clock.ts'
import type { Database } from '../../db/database.ts'
import type { BudgetSettings } from '../../state/call-budget.ts'
import { type CallBudget, readCallBudget } from '../../state/read-call-budget.ts'
import { readChannelList } from '../../state/read-channel-list.ts'
import { readDailyActivity } from '../../state/read-daily-activity.ts'
import { readLedgerOverview } from '../../state/read-ledger-overview.ts'
import { readOnly } from '../../state/read-only.ts'
import { readAcceptedShortfalls, readGaps, readOpenProblems } from '../../state/read-open-readings.ts'
import { readQuarantineReasons } from '../../state/read-quarantine-reasons.ts'
import { readRunReports } from '../../state/read-run-reports.ts'
import { readTableSizes } from '../../state/read-table-sizes.ts'
import { readWalkDays } from '../../state/read-walk-days.ts'
import { readSource } from '../../state/source.ts'
import type { BudgetView, Facts, JobView } from './facts.ts'
import { TIMELINE_DAYS } from './timeline.ts'
import { MOST_OPEN } from './verdict.ts'

/** What facts are collected with. */
export interface FactsDeps {
  readonly db: Kysely<Database>
  readonly clock: Clock
  readonly log: Log
  readonly readJobs: () => Promise<readonly JobView[]>
  /** Of 4.6, as set. */
  readonly budget: Pick<BudgetSettings, 'v1Budget' | 'v1BudgetScope'>
}

const LAST_RUNS = 12
const DAY_MS = 86_400_000
/** A statement that takes longer is given up: the page is not worth more of the database's time. */
const LONGEST_STATEMENT_MS = 20_000

/**
 * Reads everything that pages show, in one snapshot of the database. What it reads grows with channels and slices, never with
 * the rows of the warehouse.
 * @throws db.… codes
 */
export async function collectFacts({ db, clock, readJobs, budget }: FactsDeps): Promise<Omit<Facts, 'watched'>> {
  const jobs = await readJobs()
  return await readOnly(db, LONGEST_STATEMENT_MS, async (snapshot) => {
    const readAtMs = clock.now()
    const timeZone = (await readSource(snapshot))?.timeZone ?? 'UTC'
    const since = new Date(readAtMs - TIMELINE_DAYS * DAY_MS)
    const channels = await readChannelList(snapshot)
    const active = new Set(channels.flatMap(({ channelId, state }) => (state === 'active' ? [channelId] : [])))
    const isShown = ({ channelId }: { readonly channelId: string | null }) =>
      channelId === null || active.has(channelId)
    const units = (await readLedgerOverview(snapshot)).filter(isShown)
    const open = [
      ...(await readOpenProblems(snapshot, MOST_OPEN)),
      // The answer is known beforehand where the overview has none, as on most nights.
      ...(units.some(({ gaps }) => gaps > 0) ? await readGaps(snapshot, MOST_OPEN) : []),
      ...(await readAcceptedShortfalls(snapshot, MOST_OPEN)),
    ]
    return {
      readAtMs,
      timeZone,
      now: wallTimeAt(readAtMs, timeZone),
      channels,
      units,
      open: open.filter(isShown),
      walkDays: await readWalkDays(snapshot, since, timeZone),
      runs: await readRunReports(snapshot, { kind: 'last', count: LAST_RUNS }),
      activity: await readDailyActivity(snapshot, since, timeZone),
      quarantine: await readQuarantineReasons(snapshot),
      sizes: await readTableSizes(snapshot),
      jobs,
      budget: budgetOf(await readCallBudget(snapshot, { ...budget, timeZone }, readAtMs)),
    }
  })
}

/** Of channels with a budget each, the one that has least left. */
function budgetOf({ budget, scopes, scope }: CallBudget): BudgetView {
  return { calls: budget, left: Math.min(budget, ...scopes.map(({ left }) => left)), isPerChannel: scope === 'channel' }
}
