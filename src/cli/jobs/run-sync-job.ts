import type { SyncJob } from '../../core/define-job.ts'
import type { RunOutcome } from '../../core/outcome.ts'
import { planSync } from '../../pipeline/plan-sync.ts'
import type { Job } from '../../scheduler/job.ts'
import type { CliContext } from '../command.ts'
import { runExtraction } from '../run-extraction.ts'
import type { JobDeps } from './job-deps.ts'
import { readJobSettings } from './job-settings.ts'
import { jobStreams } from './job-streams.ts'

/** Brings the streams of a job up to now, as its definition says. */
export async function runSyncJob(
  context: CliContext,
  job: Job,
  definition: SyncJob,
  { db, connection }: JobDeps,
): Promise<RunOutcome> {
  const { service, configured, channels, historyFrom, alerts } = readJobSettings(context, job)
  const { lookbackDays, settleMinutes, rereadDays, until } = definition
  const tuning = { lookbackDays, settleMinutes, rereadDays }
  const { timeZone } = service
  return await runExtraction(context, {
    command: `run ${job.name}`,
    settings: { job: job.name, ...definition, channels: channels.map(({ channelId }) => channelId) },
    service,
    db,
    channels: configured,
    namesChannels: false,
    streams: jobStreams(job),
    planStreams: (now) => (some, questionsOf) =>
      planSync(db, { streams: some, channels, historyFrom, now, timeZone, tuning }, questionsOf),
    until,
    connection,
    alerts,
  })
}
