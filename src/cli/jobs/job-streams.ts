import type { Stream } from '../../core/stream.ts'
import type { Job } from '../../scheduler/job.ts'
import { findStream, streams } from '../../streams/registry.ts'

/** The streams that a job reads: those of its command where it names none. Signups bring their questionnaires along. */
export function jobStreams({ kind, definition }: Job): readonly Stream[] {
  const named = definition.streams?.flatMap((name) => findStream(name) ?? [])
  const chosen = named ?? streams.filter(({ isTimeFiltered }) => kind !== 'backfill' || isTimeFiltered)
  const questionnaires = findStream('questionnaires')
  const isMissing = !chosen.some(({ name }) => name === 'questionnaires')
  return isMissing && questionnaires && chosen.some(({ name }) => name === 'signups')
    ? [questionnaires, ...chosen]
    : chosen
}
