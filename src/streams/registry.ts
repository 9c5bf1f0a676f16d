import type { Stream, StreamName } from '../core/stream.ts'
import { gifts } from './gifts.ts'
import { managerUsage } from './manager-usage.ts'
import { managers } from './managers.ts'
import { questionnaires } from './questionnaires.ts'
import { signups } from './signups.ts'
import { visitors } from './visitors.ts'
import { watchRecords } from './watch-records.ts'

/** Every stream, in the order in which a run reports them. */
export const streams: readonly Stream[] = [
  visitors,
  watchRecords,
  gifts,
  questionnaires,
  signups,
  managers,
  managerUsage,
]

export function findStream(name: StreamName): Stream | undefined {
  return streams.find((stream) => stream.name === name)
}
