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

/** What a run reads when no stream is named, in the order in which it reports them. */
export const streams: readonly Stream[] = [
  visitors,
  watchRecords,
  gifts,
  questionnaires,
  signups,
  managers,
  managerUsage,
]

/** Also those that are read only when they are named. */
export const allStreams: readonly Stream[] = streams.flatMap((stream) =>
  stream === watchRecords ? [stream, watchRecordsV1] : [stream],
)

/** The tables of schema `livehouse` that streams write. Of two streams that write one, the first describes it. */
export const writtenTables: readonly LoadTable[] = allStreams
  .filter(({ table }, index) => allStreams.findIndex((each) => each.table === table) === index)
  .flatMap((stream) => (stream.children ? [stream, stream.children] : [stream]))

export const streamNames: readonly string[] = allStreams.map(({ name }) => name)

/** In the order of reports; what is not known comes last. */
export const rankOf = (stream: string): number => streamNames.indexOf(stream) + 1 || Infinity

export function findStream(name: string): Stream | undefined {
  return allStreams.find((stream) => stream.name === name)
}

/** The stream whose rows are a stream's questions; undefined where it has none. */
export function questionStreamOf({ partitionedBy }: Stream): Stream | undefined {
  return partitionedBy === 'channel/question' ? allStreams.find(({ listsQuestions }) => listsQuestions) : undefined
}

/** The id of the question that an item of the list of questions is; undefined where it has none. */
export function questionIdIn(item: unknown, { key, columns }: Stream): string | undefined {
  const source = columns[key.at(-1) ?? '']?.source
  const id = isObject(item) && source?.kind === 'field' ? item[source.field] : undefined
  return typeof id === 'string' ? id : undefined
}

/** The same streams, each after the one that lists its questions, which is added where it is missing. */
export function withQuestionStreams(chosen: readonly Stream[]): readonly Stream[] {
  return [...new Set(chosen.flatMap((stream) => [...[questionStreamOf(stream) ?? []].flat(), stream]))]
}

/** Whether a stream is read only when it is named: with a few calls a day it is never complete in a night. */
export function isOnlyWhenNamed(name: string): boolean {
  return findStream(name)?.isBudgeted === true
}

/** Their names, for help and messages. */
export const onlyWhenNamed = allStreams.flatMap(({ name, isBudgeted }) => (isBudgeted ? [name] : [])).join(', ')
