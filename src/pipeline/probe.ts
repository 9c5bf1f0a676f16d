import type { Clock } from '../core/clock.ts'
import type { SourceFact } from '../core/source-fact.ts'
import { type AnsweredCall, factsOfCalls } from './probe/call-times.ts'
import { findEndsByHalving } from './probe/find-ends-by-halving.ts'
import { findListParams } from './probe/find-list-params.ts'
import { findRecordFilter } from './probe/find-record-filter.ts'
import { findRecurringIds, type HeldChannels } from './probe/find-recurring-ids.ts'
import { findV1History } from './probe/find-v1-history.ts'
import { findZone } from './probe/find-zone.ts'
import { probeChannel } from './probe/probe-channel.ts'
import { type AskPage, createQuestioner, type Questioner } from './probe/questioner.ts'
import { sampleRecords } from './probe/samples.ts'
import { timesOf } from './probe/times-of.ts'

export interface ProbeDeps {
  readonly ask: AskPage
  /** The first of them is asked most; others where it has no rows, and whether ids recur. */
  readonly channels: readonly string[]
  readonly timeZone: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly held: HeldChannels
  /** The calls that were answered so far, as they were on the wire. */
  readonly answered: () => readonly AnsweredCall[]
  /** Whether one call on 4.6 is made too, out of the day's ten. */
  readonly asksV1?: boolean
  readonly mostCalls?: number
}

export interface ProbeResult {
  readonly facts: readonly SourceFact[]
  readonly calls: ReturnType<Questioner['calls']>
  /** Why an endpoint gave no answer. */
  readonly failures: ReturnType<Questioner['failures']>
}

/** Around thirty calls do; no answer needs more than this in all. */
const MOST_CALLS = 36

/**
 * Finds out what the spec leaves open, with few calls that change nothing. What an answer does not show is unknown, and
 * the evidence says why. Calls 4.6 once, where `asksV1` says so.
 * @throws LivehouseError what ends a run, such as `api.unauthorized`
 */
export async function probe(deps: ProbeDeps): Promise<ProbeResult> {
  const { ask, signal, mostCalls = MOST_CALLS } = deps
  const questioner = createQuestioner({ ask, signal, mostCalls })
  const params = await findListParams(questioner)
  const ofChannels = await probeChannels(questioner, deps)
  const [channelId] = deps.channels
  const v1 = deps.asksV1 && channelId !== undefined ? [await findV1History(questioner, channelId)] : []
  return {
    facts: [...ofChannels, ...params, ...v1, ...factsOfCalls(deps.answered())],
    calls: questioner.calls(),
    failures: questioner.failures(),
  }
}

/** Nothing without a channel. */
async function probeChannels(
  questioner: Questioner,
  { channels, timeZone, clock, held }: ProbeDeps,
): Promise<readonly SourceFact[]> {
  const records = await sampleRecords(questioner, channels)
  if (records === undefined) return []
  const { list } = records
  const filter = await findRecordFilter(questioner, records)
  const recordsWithin = (startTime: string, endTime: string) => ({ ...list, startTime, endTime })
  const recordEnds = await findEndsByHalving(questioner, recordsWithin, filter.minute)

  // Where the records are, the rest is too.
  const channel = await probeChannel(questioner, list.channelId)
  const others = channels.slice(channels.indexOf(list.channelId) + 1)
  const recurring = await findRecurringIds(questioner, records, others, held)
  const pages = [records.page, ...channel.pages].filter((page) => page !== undefined)
  const zone = await findZone(questioner, {
    timeZone,
    nowMs: pages.at(-1)?.serviceTimeMs ?? clock.now(),
    times: pages.flatMap(timesOf),
    within: recordsWithin,
  })
  return [filter.fact, recordEnds, ...channel.facts, zone, ...recurring]
}
