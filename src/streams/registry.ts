import type { LoadTable, Stream } from '../core/stream.ts'
import { isObject } from '../core/text.ts'
import { gifts } from './gifts.ts'
import { managerUsage } from './manager-usage.ts'
import { managers } from './managers.ts'
import { questionnaires } from './questionnaires.ts'
import { signups } from './signups.ts'
import { visitors } from './visitors.ts'
import { watchRecords } from './watch-records.ts'
import { watchRecordsV1 } from './watch-records-v1.ts'

/** The streams that a run reads by default, in the order of its reports. */
export const streams: readonly Stream[] = [
  visitors,
  watchRecords,
  gifts,
  questionnaires,
  signups,
  managers,
  managerUsage,
]

/** All streams, including those that are read only when named. */
export const allStreams: readonly Stream[] = streams.flatMap((stream) =>
  stream === watchRecords ? [stream, watchRecordsV1] : [stream],
)

/** The tables of schema `livehouse` that streams write. If two streams write a table, the first one describes it. */
export const writtenTables: readonly LoadTable[] = allStreams
  .filter(({ table }, index) => allStreams.findIndex((each) => each.table === table) === index)
  .flatMap((stream) => (stream.children ? [stream, stream.children] : [stream]))

export const streamNames: readonly string[] = allStreams.map(({ name }) => name)

/** The place of a stream in reports; unknown streams come last. */
export const rankOf = (stream: string): number => streamNames.indexOf(stream) + 1 || Infinity

export function findStream(name: string): Stream | undefined {
  return allStreams.find((stream) => stream.name === name)
}

/** The stream that lists the questionnaires by which `stream` is partitioned; undefined if it is not. */
export function questionStreamOf({ partitionedBy }: Stream): Stream | undefined {
  return partitionedBy === 'channel/question' ? allStreams.find(({ listsQuestions }) => listsQuestions) : undefined
}

/** The questionnaire id in an item of the list of questionnaires, as in its row; undefined if it has none. */
export function questionIdIn(item: unknown, { key, columns }: Stream): string | undefined {
  const source = columns[key.at(-1) ?? '']?.source
  const id = isObject(item) && source?.kind === 'field' ? source.parse(item[source.field]) : undefined
  return typeof id === 'string' ? id : undefined
}

/** The chosen streams, each preceded by the one that lists its questionnaires, which is added if it is missing. */
export function withQuestionStreams(chosen: readonly Stream[]): readonly Stream[] {
  return [...new Set(chosen.flatMap((stream) => [questionStreamOf(stream) ?? [], stream].flat()))]
}

/** Whether a stream is read only when named: with its few calls a day it would never be complete in a night. */
export function isOnlyWhenNamed(name: string): boolean {
  return findStream(name)?.isBudgeted === true
}

/** The names of the streams that are read only when named, for help and messages. */
export const onlyWhenNamed = allStreams.flatMap(({ name, isBudgeted }) => (isBudgeted ? [name] : [])).join(', ')
