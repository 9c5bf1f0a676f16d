import { isEmptyWindow, type Partition, type Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { ceilToMinute, floorToMinute, type WallTime } from '../core/wall-clock.ts'
import type { Slice } from './slice-work.ts'

/** A channel to read, and the part of history that the operator wants of it. */
export interface PlannedChannel {
  readonly channelId: string
  /** Undefined for all there is. */
  readonly from: WallTime | undefined
  readonly until: WallTime | undefined
}

export interface SyncPlan {
  readonly streams: readonly Stream[]
  readonly channels: readonly PlannedChannel[]
  /** The earliest time that a first sync asks for. */
  readonly historyFrom: WallTime
  /** The service's wall clock at the start of the run. */
  readonly now: WallTime
  /** The questionnaires of a channel, for streams that are read questionnaire by questionnaire. */
  readonly questionsOf: (channelId: string) => readonly string[]
}

/** What the service may not show yet is not asked for. */
const NEWEST_SECONDS = 2
/** What is younger lands, but counts as covered only when it has been read again. */
const SETTLE_SECONDS = 300

/** The slices that bring every stream up to now. */
export function planSync({ streams, channels, historyFrom, now, questionsOf }: SyncPlan): readonly Slice[] {
  return streams.flatMap((stream) =>
    partitionsOf(stream, channels, questionsOf).flatMap(({ partition, channel }): Slice[] => {
      if (!stream.isTimeFiltered) return [{ stream, partition, window: undefined, covers: undefined }]
      const from = Math.max(historyFrom, channel?.from ?? historyFrom)
      const newest = Math.min(ceilToMinute(now - NEWEST_SECONDS), channel?.until ?? Infinity)
      const settled = Math.min(floorToMinute(now - SETTLE_SECONDS), newest)
      const wanted: Window = { from, to: newest }
      if (isEmptyWindow(wanted)) return []
      const covers = { from, to: settled }
      return [{ stream, partition, window: wanted, covers: isEmptyWindow(covers) ? undefined : covers }]
    }),
  )
}

interface PlannedPartition {
  readonly partition: Partition
  readonly channel: PlannedChannel | undefined
}

function partitionsOf(
  stream: Stream,
  channels: readonly PlannedChannel[],
  questionsOf: SyncPlan['questionsOf'],
): readonly PlannedPartition[] {
  const perChannel = (parts: (channelId: string) => readonly Partition[]) =>
    channels.flatMap((channel) => parts(channel.channelId).map((partition) => ({ partition, channel })))
  switch (stream.partitionedBy) {
    case 'account':
      return [{ partition: {}, channel: undefined }]
    case 'channel':
      return perChannel((channel) => [{ channel }])
    case 'channel/type':
      return perChannel((channel) => ['cash', 'prop'].map((type) => ({ channel, type })))
    case 'channel/question':
      return perChannel((channel) => questionsOf(channel).map((question) => ({ channel, question })))
  }
}
