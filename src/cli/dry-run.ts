import type { ExtractionSettings } from '../app/settings.ts'
import type { Kysely } from 'kysely'
import { dateAfter, daysUntilDone, lastDayOf } from '../app/last-day.ts'
import { outcomeObject } from '../app/outcome.ts'
import { openConnection, readServiceTime } from '../app/open-connection.ts'
import { openAsItIs, refusePending } from '../app/open-database.ts'
import type { ReadDatabase } from '../app/run-backfill.ts'
import { noCounts, noSlices } from '../core/outcome.ts'
import type { Stream } from '../core/stream.ts'
import { type WallTime, wallTimeAt } from '../core/wall-clock.ts'
import { type CallBudget, readCallBudget } from '../ledger/call-budget.ts'
import { readGoneChannels } from '../ledger/channel-states.ts'
import { readQuestions } from '../ledger/questionnaires.ts'
import { checkSource } from '../ledger/source.ts'
import type { Database } from '../store/database.ts'
import { estimateCalls, type StreamEstimate } from '../sync/estimate-calls.ts'
import { resumeOpenFirst } from '../sync/plan-again.ts'
import type { PlanStreams } from '../sync/run-streams.ts'
import type { CliContext } from './command.ts'
import { formatTable, leftOf } from './format.ts'

interface DryRunRequest {
  /** The verb. */
  readonly command: string
  readonly settings: Pick<ExtractionSettings, 'service' | 'database'>
  readonly streams: readonly Stream[]
  /** Whether the channels were asked for by name: then those that are gone are tried again. */
  readonly namesChannels: boolean
  readonly planStreams: (db: ReadDatabase, now: WallTime) => Promise<PlanStreams>
  /** The backfill that the run would abandon. */
  readonly findAbandoned?: (db: Kysely<Database>) => Promise<string | undefined>
  readonly isJson: boolean
}

/**
 * Shows what a run would read and how long that takes, and writes nothing: no run, no migration, no claim, no channel.
 * @returns the exit code
 */
export async function dryRun(context: CliContext, request: DryRunRequest): Promise<number> {
  const { signal, print } = context
  const startedAt = new Date(context.clock.now()).toISOString()
  const { settings, streams } = request
  const { service } = settings
  await using database = await openAsItIs(context, settings.database)
  refusePending(database)
  const db = database.isMigrated ? database.db : undefined
  if (db !== undefined) await checkSource(db, service)

  const gone = db === undefined || request.namesChannels ? new Set<string>() : await readGoneChannels(db)
  const questions = db && (await readQuestions(db, 'listed'))
  const questionsOf = (channelId: string) => questions?.get(channelId) ?? []
  // Alone with its token and its pace: to share them is to write.
  await using connection = openConnection(context, service, undefined)
  const clock = await readServiceTime(context, connection)
  const planStreams = await request.planStreams(db, wallTimeAt(clock.now(), service.timeZone))
  const planned = (await planStreams(streams, questionsOf)).filter(
    ({ partition: { channel } }) => channel === undefined || !gone.has(channel),
  )
  const abandoned = db && (await request.findAbandoned?.(db))
  const plans = db === undefined ? planned : await resumeOpenFirst(db, planned, clock.now(), abandoned)
  let asked = 0
  const estimates = await estimateCalls(streams, plans, {
    db,
    fetchPage: connection.fetchPage,
    context: { signal, onAttempt: () => void asked++ },
    questionsOf,
  })
  const budget = await readCallBudget(db, service, clock.now())
  const shown = { estimates, asked, ceiling: service.maxCallsPerSecond, budget }
  if (!request.isJson) for (const line of describe(shown)) print(line)
  else {
    const run = outcomeObject({
      runId: null,
      command: request.command,
      status: 'ok',
      startedAt,
      finishedAt: new Date(context.clock.now()).toISOString(),
      resumesAt: null,
      streams: Object.fromEntries(streams.map(({ name }) => [name, { counts: noCounts, slices: noSlices }])),
      errors: [],
    })
    print(JSON.stringify({ ...run, dry_run: true, estimate: estimateObject(shown) }))
  }
  return 0
}

interface Shown {
  readonly estimates: readonly StreamEstimate[]
  /** Calls that the estimate itself has made. */
  readonly asked: number
  /** Calls a second that are allowed; 0 for no ceiling. */
  readonly ceiling: number
  /** Of calls on version 1. */
  readonly budget: CallBudget
}

function describe({ estimates, asked, ceiling, budget }: Shown): string[] {
  const rows = estimates.map(({ stream, slices, calls, isAtLeast, basis }) => [
    stream,
    slices,
    calls,
    [
      ...(basis.ledger > 0 ? [`${basis.ledger} as read before`] : []),
      ...(basis.asked > 0 ? [`${basis.asked} asked`] : []),
      ...(basis.likeAsked > 0 ? [`${basis.likeAsked} taken to be like those`] : []),
      ...(isAtLeast ? [`${basis.unknown} not known: at least so many calls`] : []),
    ].join(', '),
  ])
  const calls = totalOf(estimates)
  const floor = estimates.some(({ isAtLeast }) => isAtLeast) ? 'at least ' : ''
  const times = ratesOf(ceiling).map((rate) => `${minutesFor(pacedOf(estimates), rate)} at ${rate}`)
  return [
    ...formatTable(['stream', 'slices', 'calls', 'estimated from'], rows),
    '',
    `${floor}${calls} calls; minutes by calls a second: ${times.join(', ')}`,
    ...estimates.flatMap((estimate) => describeDays(estimate, budget)),
    `Nothing was written.${asked === 0 ? '' : ` The service was asked for totals, ${asked} calls.`}`,
  ]
}

function estimateObject({ estimates, asked, ceiling, budget }: Shown): object {
  const calls = totalOf(estimates)
  const streams = estimates.map((each) => [
    each.stream,
    {
      slices: each.slices,
      calls: each.calls,
      is_at_least: each.isAtLeast,
      estimated_from: {
        ledger: each.basis.ledger,
        asked: each.basis.asked,
        like_asked: each.basis.likeAsked,
        unknown: each.basis.unknown,
      },
      ...(each.callsOf === undefined ? {} : daysObject(each.callsOf, budget)),
    },
  ])
  return {
    streams: Object.fromEntries(streams),
    calls,
    asked_calls: asked,
    minutes: Object.fromEntries(ratesOf(ceiling).map((rate) => [rate, minutesFor(pacedOf(estimates), rate)])),
  }
}

function totalOf(estimates: readonly StreamEstimate[]): number {
  return estimates.reduce((sum, { calls }) => sum + calls, 0)
}

/** Those that wait for no other day. */
function pacedOf(estimates: readonly StreamEstimate[]): number {
  return totalOf(estimates.filter(({ callsOf }) => callsOf === undefined))
}

/** Five and twenty calls a second, and what is allowed. */
function ratesOf(ceiling: number): readonly number[] {
  return [...new Set([5, 20, ...(ceiling > 0 ? [ceiling] : [])])].sort((a, b) => a - b)
}

function minutesFor(calls: number, callsPerSecond: number): number {
  return Math.ceil((calls / callsPerSecond / 60) * 10) / 10
}

type CallsOf = NonNullable<StreamEstimate['callsOf']>

/** How long a stream takes of which only some calls a day may be made, for a person; nothing for any other. */
export function describeDays({ stream, callsOf, calls, isAtLeast }: StreamEstimate, budget: CallBudget): string[] {
  if (callsOf === undefined || callsOf.size === 0) return []
  const days = daysUntilDone(callsOf, budget)
  if (days === undefined) return [`${stream}: LIVEHOUSE_V1_BUDGET is ${budget.budget}, so it never comes to its end`]
  const floor = isAtLeast ? 'at least ' : ''
  const whose = budget.scope === 'account' ? '' : ' for each channel'
  return [
    `${stream}: ${floor}${days} ${days === 1 ? 'day' : 'days'}, until ${dateAfter(days, budget)}: ${floor}${calls} calls at ${budget.budget} a day${whose} (left today: ${leftOf(budget)})`,
    ...(isAtLeast
      ? ['  The service tells no total here: how many pages there are shows when the last one has come.']
      : []),
  ]
}

/** For programs: days of the service, today included, and the last of them; null where it never ends. */
export function daysObject(callsOf: CallsOf, budget: CallBudget): Readonly<Record<string, unknown>> {
  const days = daysUntilDone(callsOf, budget)
  return { calls_a_day: budget.budget, days: days ?? null, last_day: lastDayOf(callsOf, budget) ?? null }
}
