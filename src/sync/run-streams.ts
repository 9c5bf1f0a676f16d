import { hasCode } from '../core/errors.ts'
import { parsePartition, type Partition, partitionKey } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { DAY } from '../core/wall-clock.ts'
import { readHeadersSeen, readQuestions, recordListing } from '../ledger/questionnaires.ts'
import { readWalkBefore } from '../ledger/slices/slices.ts'
import type { FoundRows } from './judge-walk.ts'
import type { Plans, QuestionsOf } from './plan-slices.ts'
import { createCallMeter, fetchNumbered, openReading } from './page-reading.ts'
import { type RunOptions, runPhases } from './run-phases.ts'
import type { RunDeps } from './slice-work.ts'
import type { RunResult } from './tally.ts'

/** For so long the signups of a questionnaire that is no longer listed are still asked for. */
export const STILL_ASKED_MS = 7 * DAY * 1000

/** Plans streams, given the questionnaires known by then. */
export type PlanStreams = (streams: readonly Stream[], questionsOf: QuestionsOf) => Promise<Plans>

/** Runs what is planned, phase after phase. */
export type RunPhases = typeof runPhases

/** Each day another partition comes first, so that one whose refusal spends the day does not starve the others. */
function takeTurns(plans: Plans, { clock, wallTimeAt }: RunDeps): Plans {
  const first = Math.ceil(wallTimeAt(clock.now()) / DAY) % Math.max(1, plans.length)
  return [...plans.slice(first), ...plans.slice(0, first)]
}

/**
 * Runs streams in their order: first those that stand on their own, then those that are read questionnaire by
 * questionnaire, then again those questionnaires whose headers have changed, and last those with few calls a day. What
 * is left of all of them is read once more where another server of the database has taken the place of the first.
 * @param run in this process when not given
 */
export async function runStreams(
  streams: readonly Stream[],
  planStreams: PlanStreams,
  deps: RunDeps,
  options: Omit<RunOptions, 'onEnd'>,
  run: RunPhases = runPhases,
): Promise<RunResult> {
  const listed = new Map<string, FoundRows>()
  const dependent = streams.filter(isOfQuestions)
  const listName = streams.find(({ listsQuestions }) => listsQuestions)?.name ?? ''
  const isBudgeted = (stream: Stream) => stream.isBudgeted === true
  const independent = streams.filter((stream) => !isOfQuestions(stream) && !isBudgeted(stream))

  // Another run or worker may be the first to see headers changed: then this one would find its ranges covered no more.
  const before = await readHeadersSeen(deps.db)
  const served = new Map<string, boolean>()
  /**
   * A questionnaire that a proven list no longer has is asked for some days longer, as it may have been closed after
   * its last signups, unless the service does not know it. Where the list was not read, or is suddenly empty, all are
   * asked for.
   */
  const readQuestionsOf = async (): Promise<QuestionsOf> => {
    const questions = await readQuestions(deps.db)
    const trusted = new Map<string, FoundRows>()
    for (const [channelId, found] of listed) {
      const partition = partitionKey({ channel: channelId })
      const wasEmpty = async () => (await readWalkBefore(deps.db, { stream: listName, partition }, deps.runId)) === 0
      if (found.count > 0 || (await wasEmpty())) trusted.set(channelId, found)
    }
    const known = [...trusted].flatMap(([channel, found]) =>
      (questions.get(channel) ?? []).map((question) => ({ channel, question, isListed: found.has(question) })),
    )
    const partitionsOf = (which: boolean) => known.filter(({ isListed }) => isListed === which).map(partitionKey)
    const now = deps.clock.now()
    const seen = { runId: deps.runId, foundAt: new Date(now), since: new Date(now - STILL_ASKED_MS) }
    const lately = await recordListing(deps.db, { listed: partitionsOf(true), unlisted: partitionsOf(false) }, seen)
    const unknown = lately.filter((partition) => !served.has(partition))
    const [stream] = dependent
    const ask = async (each: string) =>
      served.set(each, stream !== undefined && (await isServed(stream, parsePartition(each) ?? {}, deps)))
    await Promise.all(unknown.map(ask))
    const isAsked = (channel: string, question: string) =>
      (trusted.get(channel)?.has(question) ?? true) || served.get(partitionKey({ channel, question })) === true
    return (channel) => (questions.get(channel) ?? []).filter((question) => isAsked(channel, question))
  }
  const phases = [
    async () => await planStreams(independent, () => []),
    async () => await planStreams(dependent, await readQuestionsOf()),
    async () => {
      const after = await readHeadersSeen(deps.db)
      const changed = new Set([...before.keys()].filter((key) => after.get(key) !== before.get(key)))
      if (changed.size === 0) return []
      const plans = await planStreams(dependent, await readQuestionsOf())
      return plans.filter(({ partition }) => changed.has(partitionKey(partition)))
    },
    async () => takeTurns(await planStreams(streams.filter(isBudgeted), () => []), deps),
  ]
  const planLeft = async (plans: Plans): Promise<Plans> =>
    await Array.fromAsync(plans, async (plan) => ({ ...plan, slices: await options.planAgain(plan) }))
  async function* untilServerStays() {
    yield* phases
    while (await options.leases.isServerReplaced())
      for (const phase of phases) yield async () => await planLeft(await phase())
  }
  return await run(streams, untilServerStays(), deps, {
    ...options,
    onEnd: ({ stream, partition }, { proof, counts, found }) => {
      // With items in quarantine the list is not complete: one of them may be a listed questionnaire.
      const isList = stream.listsQuestions && proof === 'verified' && !counts.quarantined
      if (isList && partition.channel && found) listed.set(partition.channel, found)
    },
  })
}

/** Whether a stream is read questionnaire by questionnaire. */
export const isOfQuestions = ({ partitionedBy }: Stream): boolean => partitionedBy === 'channel/question'

/** Whether the service gives signups of a questionnaire that it does not list. */
export async function isServed(stream: Stream, partition: Partition, deps: RunDeps): Promise<boolean> {
  const slice = { stream, partition, window: undefined, covers: undefined }
  try {
    const { items, total = 0 } = await fetchNumbered(openReading(slice, deps, createCallMeter()).pages, 1)
    // One without signups may have been emptied: it is not asked for, so that its rows stay.
    return items.length + total > 0
  } catch (error) {
    // Any other error says nothing of whether it is there, and is reported when its signups are read.
    return !isNotFound(error) && !hasCode(error, 'api.forbidden') && !hasCode(error, 'api.channelUnknown')
  }
}

/** Whether the service says that it has no such thing: HTTP 404 or 410, a code that begins with 404, or in words. */
function isNotFound(error: unknown): boolean {
  if (!hasCode(error, 'api.status') && !hasCode(error, 'api.refused')) return false
  const { code = '', reason, ...details } = error.details
  const isSaid = /no such|(not|n't) (exist|found)|不存在/i.test(reason)
  return ('status' in details && [404, 410].includes(details.status)) || String(code).startsWith('404') || isSaid
}
