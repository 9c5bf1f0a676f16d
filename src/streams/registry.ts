import type { Stream, StreamName } from '../core/stream.ts'
import { visitors } from './visitors.ts'
import { watchRecords } from './watch-records.ts'

/** Every stream, in the order in which a run reports them. */
export const streams: readonly Stream[] = [visitors, watchRecords]

export function findStream(name: StreamName): Stream | undefined {
  return streams.find((stream) => stream.name === name)
}
