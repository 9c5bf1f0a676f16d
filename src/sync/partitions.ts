import { isEmptyWindow, type Partition, partitionKey, type Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import type { WallTime } from '../core/wall-clock.ts'
import type { WantedRange } from '../ledger/coverage.ts'
import { coveredPart, horizonAt, restingApart } from './plan-windows.ts'
import type { Slice } from './slice-work.ts'

/** A channel to read, and the part of history that the operator wants of it. */
export interface PlannedChannel {
  readonly channelId: string
  /** Undefined for all there is. */
  readonly from: WallTime | undefined
  readonly until: WallTime | undefined
}

/** A partition and what is to be read of it, newest first. One runner at a time works on it. */
export interface PartitionPlan {
  readonly stream: Stream
  readonly partition: Partition
  readonly slices: readonly Slice[]
}

/** A partition of a stream, and the channel that it belongs to; undefined for the account's. */
export interface PlannedPartition {
  readonly partition: Partition
  readonly channel: PlannedChannel | undefined
}

/** The questionnaires of a channel, for streams that are read questionnaire by questionnaire. */
export type QuestionsOf = (channelId: string) => readonly string[]

export function partitionsOf(
  { partitionedBy, types = [] }: Stream,
  channels: readonly PlannedChannel[],
  questionsOf: QuestionsOf,
): readonly PlannedPartition[] {
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

/** What the operator wants of a channel's history, within `window`. */
export function clipToChannel({ from, to }: Window, channel: PlannedChannel | undefined): Window {
  return { from: Math.max(from, channel?.from ?? from), to: Math.min(to, channel?.until ?? to) }
}

/** A partition of a time-filtered stream and the part of its history that is wanted, by its name in the ledger. */
export interface WantedPartition extends WantedRange {
  readonly of: Partition
}

/** What is wanted of each partition, as far as the operator wants its channel; none where nothing is left of it. */
export function wantedPartitions(
  stream: Stream,
  channels: readonly PlannedChannel[],
  questionsOf: QuestionsOf,
  window: Window,
): readonly WantedPartition[] {
  return partitionsOf(stream, channels, questionsOf)
    .map(({ partition, channel }) => ({
      of: partition,
      partition: partitionKey(partition),
      window: clipToChannel(window, channel),
    }))
    .filter((wanted) => !isEmptyWindow(wanted.window))
}

/**
 * What is not covered of each wanted partition, as slices.
 * @param gapsOf by partition; undefined for nothing covered
 * @param now the service's wall clock at the start of the run
 * @param more what else is said of each slice
 */
export function planGaps(
  stream: Stream,
  wanted: readonly WantedPartition[],
  gapsOf: ReadonlyMap<string, readonly Window[]> | undefined,
  now: WallTime,
  more: Pick<Slice, 'backfillId' | 'lookbackDays'>,
): readonly PartitionPlan[] {
  const horizon = horizonAt(now)
  return wanted.map(({ of, partition, window: whole }) => {
    const gaps = gapsOf?.get(partition) ?? [whole]
    const slices = gaps
      .toReversed()
      .flatMap((gap) => restingApart(gap, stream, now))
      .map((window) => ({ stream, partition: of, window, covers: coveredPart(window, horizon), ...more }))
    return { stream, partition: of, slices }
  })
}
