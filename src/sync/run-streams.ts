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

/** How long the signups of a questionnaire are still read after it has left the list. */
export const STILL_ASKED_MS = 7 * DAY * 1000

/** Plans streams, given the questionnaires that are known at that time. */
export type PlanStreams = (streams: readonly Stream[], questionsOf: QuestionsOf) => Promise<Plans>

/** Runs the plans of one phase after the other. */
export type RunPhases = typeof runPhases

/** Rotates the plans by the day: a partition whose refusal spends a day's calls does not starve the others. */
function takeTurns(plans: Plans, { clock, wallTimeAt }: RunDeps): Plans {
  const first = Math.ceil(wallTimeAt(clock.now()) / DAY) % Math.max(1, plans.length)
  return [...plans.slice(first), ...plans.slice(0, first)]
}

/**
 * Runs streams in the order of their dependencies: first the independent ones, then those that are read questionnaire
 * by questionnaire, then again the questionnaires whose headers have changed, and last the streams with few calls a
 * day. If the database fails over to another server meanwhile, whatever that server lacks is read once more.
 * @param run runs the phases; by default in this process
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

  // Read at the start, so that this run also notices changed headers that another process was the first to see.
  const before = await readHeadersSeen(deps.db)
  const served = new Map<string, boolean>()
  /**
   * A questionnaire that has left a proven list is still read for some days, unless the service does not know it: it
   * may have been closed after its last signups. If the list was not read, or is suddenly empty, all known
   * questionnaires are read.
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
      // A list with items in quarantine is incomplete: one of them may be a questionnaire.
      const isList = stream.listsQuestions && proof === 'verified' && !counts.quarantined
      if (isList && partition.channel && found) listed.set(partition.channel, found)
    },
  })
}

/** Whether a stream is read questionnaire by questionnaire. */
export const isOfQuestions = ({ partitionedBy }: Stream): boolean => partitionedBy === 'channel/question'

/** Whether the service returns signups of a questionnaire that it does not list. */
export async function isServed(stream: Stream, partition: Partition, deps: RunDeps): Promise<boolean> {
  const slice = { stream, partition, window: undefined, covers: undefined }
  try {
    const { items, total = 0 } = await fetchNumbered(openReading(slice, deps, createCallMeter()).pages, 1)
    // A questionnaire without signups may have been emptied. It is not read, so that its rows are kept.
    return items.length + total > 0
  } catch (error) {
    // Other errors do not show whether it exists. They are reported when its signups are read.
    return !isNotFound(error) && !hasCode(error, 'api.forbidden') && !hasCode(error, 'api.channelUnknown')
  }
}

/** Whether the service says that something does not exist: by HTTP 404 or 410, by a code 404xxx, or in words. */
function isNotFound(error: unknown): boolean {
  if (!hasCode(error, 'api.status') && !hasCode(error, 'api.refused')) return false
  const { code = '', reason, ...details } = error.details
  const isSaid = /no such|(not|n't) (exist|found)|不存在/i.test(reason)
  return ('status' in details && [404, 410].includes(details.status)) || String(code).startsWith('404') || isSaid
}
