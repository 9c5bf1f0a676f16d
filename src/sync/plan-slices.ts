import type { PerStream } from '../core/define-job.ts'
import { isEmptyWindow, type Partition, partitionKey, type Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { DAY, type WallTime } from '../core/wall-clock.ts'
import { readGaps } from '../ledger/slices/coverage.ts'
import { AGREEMENT_SECONDS } from '../ledger/slices/earlier-readings.ts'
import type { Db } from '../store/database.ts'
import { NIGHT_DAYS } from './cut-slice.ts'
import type { Slice } from './slice-work.ts'
import { claimableUntil, cutAtLookback, isReadTwice, lookbackStart, partUntil, readableUntil } from './windows.ts'

export interface SyncPlan {
  readonly streams: readonly Stream[]
  readonly channels: readonly PlannedChannel[]
  /** The earliest time that a first sync reads. */
  readonly historyFrom: WallTime
  /** The service's wall clock at the start of the run. */
  readonly now: WallTime
  readonly timeZone: string
  /** For how many days rows may still change, if a job overrides the value of the stream. */
  readonly lookbackDays?: PerStream | undefined
}

/**
 * Plans the slices that bring streams up to date: a whole list if there is no time filter, and otherwise everything
 * that is not settled. That is what the ledger does not cover, the lookback, in which rows still change, and what the
 * last reading changed, missed or, without a total, read for the first time. The latter waits for the hour after which
 * another reading can agree with it.
 */
export async function planSync(db: Db | undefined, plan: SyncPlan, questionsOf: QuestionsOf): Promise<Plans> {
  const { streams, channels, historyFrom, now, timeZone } = plan
  const plans = streams.map(async (stream) => {
    if (!stream.isTimeFiltered) {
      return partitionsOf(stream, channels, questionsOf).map(({ partition }) => {
        return { stream, partition, slices: [{ stream, partition, window: undefined, covers: undefined }] }
      })
    }
    const lookbackDays = plan.lookbackDays?.[stream.name] ?? stream.lookbackDays
    const wanted = wantedPartitions(stream, channels, questionsOf, { from: historyFrom, to: readableUntil(now) })
    const until = lookbackStart(now, lookbackDays) - AGREEMENT_SECONDS
    const gapsOf = await readGaps(db, stream.name, wanted, {
      settledFor: { lookbackDays, ofStream: stream.lookbackDays, timeZone },
      ...(isReadTwice(stream) && { recent: { since: now - AGREEMENT_SECONDS, until, timeZone } }),
    })
    return await planGaps(db, stream, wanted, gapsOf, now, { lookbackDays })
  })
  return (await Promise.all(plans)).flat()
}

/** A channel to read, with the range of its history that the operator wants. */
export interface PlannedChannel {
  readonly channelId: string
  /** Undefined for no bound. */
  readonly from: WallTime | undefined
  readonly until: WallTime | undefined
}

/** A partition with the slices to read, newest first. One runner at a time works on it. */
export interface PartitionPlan {
  readonly stream: Stream
  readonly partition: Partition
  readonly slices: readonly Slice[]
}

/** The plans of several partitions. */
export type Plans = readonly PartitionPlan[]

/** Returns the questionnaires of a channel, for streams that are read questionnaire by questionnaire. */
export type QuestionsOf = (channelId: string) => readonly string[]

/** The partitions of a stream, each with its channel, which is undefined for the account. */
export function partitionsOf(
  { partitionedBy, types = [] }: Stream,
  channels: readonly PlannedChannel[],
  questionsOf: QuestionsOf,
): readonly { readonly partition: Partition; readonly channel: PlannedChannel | undefined }[] {
  const perChannel = (parts: (channel: string) => readonly Partition[]) =>
    channels.flatMap((channel) => parts(channel.channelId).map((partition) => ({ partition, channel })))
  switch (partitionedBy) {
    case 'account':
      return [{ partition: {}, channel: undefined }]
    case 'channel':
      return perChannel((channel) => [{ channel }])
    case 'channel/type':
      return perChannel((channel) => types.map((type) => ({ channel, type })))
    case 'channel/question':
      return perChannel((channel) => questionsOf(channel).map((question) => ({ channel, question })))
  }
}

/** Limits a window to the history that the operator wants of a channel. */
export function clipToChannel({ from, to }: Window, channel: PlannedChannel | undefined): Window {
  return { from: Math.max(from, channel?.from ?? from), to: Math.min(to, channel?.until ?? to) }
}

/** The partitions of a time-filtered stream with the wanted window of each, without those whose window is empty. */
export function wantedPartitions(
  stream: Stream,
  channels: readonly PlannedChannel[],
  questionsOf: QuestionsOf,
  window: Window,
) {
  return partitionsOf(stream, channels, questionsOf)
    .map(({ partition, channel }) => ({
      of: partition,
      partition: partitionKey(partition),
      window: clipToChannel(window, channel),
    }))
    .filter((wanted) => !isEmptyWindow(wanted.window))
}

/**
 * Plans the slices that fill the gaps of each wanted partition.
 * @param gapsOf gaps by partition; undefined if nothing is covered
 */
async function planGaps(
  db: Db | undefined,
  stream: Stream,
  wanted: ReturnType<typeof wantedPartitions>,
  gapsOf: ReadonlyMap<string, readonly Window[]> | undefined,
  now: WallTime,
  options: Pick<Slice, 'backfillId' | 'lookbackDays'>,
): Promise<Plans> {
  const latest = readableUntil(now)
  const allTimes = wanted.map(({ partition }) => ({ partition, window: { from: -Infinity, to: latest } }))
  const mayOverlap = stream.timeColumns.length > 1 && !stream.isBudgeted
  const uncoveredOf = await readGaps(mayOverlap ? db : undefined, stream.name, allTimes)
  return wanted.map(({ of, partition, window: whole }) => {
    const gaps = gapsOf?.get(partition) ?? [whole]
    const uncovered = uncoveredOf.get(partition) ?? []
    const search = stream.identity ? undefined : { cuts: 0, proven: 0 }
    const common = { stream, partition: of, search, ...options }
    const slices = gaps
      .toReversed()
      .flatMap((gap) => cutAtLookback(overlapCovered(gap, uncovered, stream, latest), stream, now))
      .map((window) => ({ ...common, window, covers: partUntil(window, claimableUntil(now)) }))
    return { stream, partition: of, slices }
  })
}

/**
 * Extends a long window by a day of the covered range beside it: some services show a row with two times only in a
 * range that holds both, and would show a row across the border in neither. A short window stays as it is: that of a
 * night begins within the covered range, and of others nothing would show whether the service has served all of it.
 */
function overlapCovered(window: Window, uncovered: readonly Window[], stream: Stream, latest: WallTime): Window {
  const mostDays = stream.lookbackDays + (window.to === latest ? 0 : NIGHT_DAYS)
  if (window.to - window.from <= mostDays * DAY) return window
  const starts = uncovered.map(({ from }) => (from < window.from ? window.from : from - DAY))
  const ends = uncovered.map(({ to }) => (to > window.to ? window.to : Math.min(to + DAY, latest)))
  return { from: Math.min(window.from, ...starts), to: Math.max(window.to, ...ends) }
}

/** What a backfill is planned from. All its streams have a time filter. */
export interface BackfillPlan extends Pick<SyncPlan, 'streams' | 'channels' | 'now'> {
  readonly window: Window
  /** Undefined for the dry run of a new backfill. */
  readonly backfillId: string | undefined
  /** Whether to leave out what is covered. */
  readonly onlyGaps: boolean
}

/**
 * Plans the rest of a backfill: its range without the slices that this backfill has landed; with `onlyGaps`, without
 * anything that is covered.
 */
export async function planBackfill(db: Db | undefined, plan: BackfillPlan, questionsOf: QuestionsOf): Promise<Plans> {
  const { streams, channels, now, backfillId, onlyGaps } = plan
  const window = { from: plan.window.from, to: Math.min(plan.window.to, readableUntil(now)) }
  const plans = streams.map(async (stream) => {
    const wanted = wantedPartitions(stream, channels, questionsOf, window)
    const isNew = backfillId === undefined && !onlyGaps
    const gapsOf = isNew ? undefined : await readGaps(db, stream.name, wanted, onlyGaps ? {} : { backfillId })
    return await planGaps(db, stream, wanted, gapsOf, now, { backfillId })
  })
  return (await Promise.all(plans)).flat()
}
