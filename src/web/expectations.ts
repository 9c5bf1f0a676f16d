import type { WallTime } from '../core/wall-clock.ts'
import type { Facts } from './facts.ts'

/** From when and until when a channel is read; undefined: without end on that side. */
export interface ChannelRange {
  readonly from?: WallTime | undefined
  readonly until?: WallTime | undefined
}

/** The range of a channel, as configured. */
export type RangeOf = (channelId: string) => ChannelRange

/** What should have been read. */
export interface Expectations {
  /**
   * Whether a stream of a channel is kept up to date. Where jobs read the stream, they say of which channels; else, such as
   * where cron runs a sync, of all.
   */
  readonly isWanted: (stream: string, channelId: string) => boolean
  readonly rangeOf: RangeOf
}

/** Works out what is expected; quick to ask for thousands of channels. */
export function createExpectations({ jobs, channels }: Facts, rangeOf: RangeOf = () => ({})): Expectations {
  const groupOf = new Map(channels.map(({ channelId, group }) => [channelId, group]))
  const readers = new Map<string, ((channelId: string) => boolean)[]>()
  for (const { streams, channels: chosen } of jobs) {
    const ids = new Set(Array.isArray(chosen) ? chosen : [])
    const reads = (channelId: string): boolean =>
      chosen === 'all' || ids.has(channelId) || ('group' in chosen && groupOf.get(channelId) === chosen.group)
    for (const stream of streams) readers.set(stream, [...(readers.get(stream) ?? []), reads])
  }
  return {
    isWanted: (stream, channelId) => readers.get(stream)?.some((reads) => reads(channelId)) ?? true,
    rangeOf,
  }
}
