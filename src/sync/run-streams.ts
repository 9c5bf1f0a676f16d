import { hasCode } from '../core/errors.ts'
import { type Partition, parsePartition, partitionKey } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { DAY } from '../core/wall-clock.ts'
import { readHeadersSeen, readQuestions, recordListing } from '../ledger/questionnaires.ts'
import { readRowsBefore } from '../ledger/slices/slices.ts'
import type { Plans, QuestionsOf } from './plan-slices.ts'
import { type RunOptions, runPhases } from './run-phases.ts'
import { createCallMeter, fetchByNumber, openReading } from './slice-reading.ts'
import type { FoundRows, RunDeps } from './slice-work.ts'
import type { RunResult } from './tally.ts'

/** How long the signups of a questionnaire are still read after it has left the list. */
export const UNLISTED_GRACE_MS = 7 * DAY * 1000

/** The questionnaires of a channel, as this run has read them. */
type QuestionList = FoundRows & { readonly isProven: boolean }

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
  const lists = new Map<string, QuestionList>()
  const served = new Map<string, boolean>()
  const dependent = streams.filter(isByQuestionnaire)
  const isBudgeted = (stream: Stream) => stream.isBudgeted === true
  const independent = streams.filter((stream) => !isByQuestionnaire(stream) && !isBudgeted(stream))
  const planDependent = async () => await planStreams(dependent, await readQuestionsOf(streams, deps, lists, served))

  // Read at the start, so that this run also notices changed headers that another process was the first to see.
  const before = await readHeadersSeen(deps.db)
  const phases = [
    async () => await planStreams(independent, () => []),
    planDependent,
    async () => {
      const after = await readHeadersSeen(deps.db)
      const changed = new Set([...before.keys()].filter((key) => after.get(key) !== before.get(key)))
      if (changed.size === 0) return []
      const plans = await planDependent()
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
      const isProven = proof === 'verified' && !counts.quarantined
      if (stream.listsQuestions && partition.channel && found) lists.set(partition.channel, { ...found, isProven })
    },
  })
}

/**
 * Reads the questionnaires whose signups are to be read. One that has left a proven list is still read for some days,
 * unless the service does not know it: it may have been closed after its last signups. If the list of a channel was not
 * read, is not proven or is suddenly empty, it only adds questionnaires to those of the last proven list.
 * @param served whether the service returns signups of an unlisted questionnaire, by partition; asked once a run
 */
async function readQuestionsOf(
  streams: readonly Stream[],
  deps: RunDeps,
  lists: ReadonlyMap<string, QuestionList>,
  served: Map<string, boolean>,
): Promise<QuestionsOf> {
  const { db, runId, clock } = deps
  const questions = await readQuestions(db)
  const listName = streams.find(({ listsQuestions }) => listsQuestions)?.name ?? ''
  const [listed, unlisted]: [string[], string[]] = [[], []]
  for (const [channel, list] of lists) {
    const place = { stream: listName, partition: partitionKey({ channel }) }
    const isWhole = list.isProven && (list.count > 0 || (await readRowsBefore(db, place, runId)) === 0)
    for (const question of questions.get(channel) ?? []) {
      if (list.has(question)) listed.push(partitionKey({ channel, question }))
      else if (isWhole) unlisted.push(partitionKey({ channel, question }))
    }
  }
  const seen = { runId, foundAt: new Date(clock.now()), since: new Date(clock.now() - UNLISTED_GRACE_MS) }
  const recentlyListed = await recordListing(db, { listed, unlisted }, seen)
  const stream = streams.find(isByQuestionnaire)
  const ask = async (partition: string) =>
    served.set(partition, stream !== undefined && (await isServed(stream, parsePartition(partition) ?? {}, deps)))
  await Promise.all(recentlyListed.filter((partition) => !served.has(partition)).map(ask))
  const listedNow = await readQuestions(db, 'listed')
  const isRead = (channel: string, question: string) =>
    listedNow.get(channel)?.includes(question) === true || served.get(partitionKey({ channel, question })) === true
  return (channel) => (questions.get(channel) ?? []).filter((question) => isRead(channel, question))
}

/** Whether a stream is read questionnaire by questionnaire. */
export const isByQuestionnaire = ({ partitionedBy }: Stream): boolean => partitionedBy === 'channel/question'

/** Whether the service returns signups of a questionnaire that it does not list. */
export async function isServed(stream: Stream, partition: Partition, deps: RunDeps): Promise<boolean> {
  const slice = { stream, partition, window: undefined, covers: undefined }
  try {
    const { items, total = 0 } = await fetchByNumber(openReading(slice, deps, createCallMeter()).requests, 1)
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
  const isGone = 'status' in details && [404, 410].includes(details.status) && !details.isWebPage
  return isGone || String(code).startsWith('404') || /no such|(not|n't) (exist|found)|不存在/i.test(reason)
}
