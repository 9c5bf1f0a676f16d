import type { BackfillJob } from '../../core/define-job.ts'
import type { Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { formatWallTime, wallTimeAt } from '../../core/wall-clock.ts'
import type { Job } from '../../scheduler/job.ts'
import type { BackfillArguments } from '../../state/backfills.ts'
import type { CliContext } from '../command.ts'
import type { ExtractionSettings } from '../extraction-settings.ts'
import { readJobSettings } from './job-settings.ts'
import { jobStreams } from './job-streams.ts'
import { rangeWindow } from './range-window.ts'

/** What a backfill job asks for now. */
export interface AskedBackfill {
  readonly settings: ExtractionSettings
  readonly startedAt: Date
  readonly window: Window
  readonly streams: readonly Stream[]
  /** By which it is told from other backfills, and resumed. */
  readonly wanted: BackfillArguments
}

/** `nowMs`: what the service's clock shows, milliseconds since 1970. @throws config.invalid */
export function readBackfillJob(
  context: CliContext,
  job: Job,
  { range, onlyGaps = false }: Pick<BackfillJob, 'range' | 'onlyGaps'>,
  nowMs: number,
): AskedBackfill {
  const settings = readJobSettings(context, job)
  const { service, channels, historyFrom } = settings
  const startedAt = new Date(nowMs)
  const window = rangeWindow(range, historyFrom, wallTimeAt(startedAt.getTime(), service.timeZone))
  const streams = jobStreams(job)
  const wanted = {
    from: formatWallTime(window.from),
    to: formatWallTime(window.to),
    streams: streams.filter(({ isTimeFiltered }) => isTimeFiltered).map(({ name }) => name),
    channels: channels.map(({ channelId }) => channelId),
    onlyGaps,
  }
  return { settings, startedAt, window, streams, wanted }
}
