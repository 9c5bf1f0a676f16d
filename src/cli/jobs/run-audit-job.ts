import type { AuditJob } from '../../core/define-job.ts'
import { wallTimeAt } from '../../core/wall-clock.ts'
import type { Job } from '../../scheduler/job.ts'
import type { AuditOutcome } from '../audit/audit-outcome.ts'
import { executeAudit } from '../audit/execute-audit.ts'
import type { CliContext } from '../command.ts'
import type { JobDeps } from './job-deps.ts'
import { readJobSettings } from './job-settings.ts'
import { jobStreams } from './job-streams.ts'
import { rangeWindow } from './range-window.ts'

/** Holds the service's totals against the warehouse. */
export async function runAuditJob(
  context: CliContext,
  job: Job,
  { range }: AuditJob,
  { db, connection }: JobDeps,
): Promise<AuditOutcome> {
  const settings = readJobSettings(context, job)
  await connection.serviceClock.refresh(context.signal)
  const now = wallTimeAt(connection.serviceClock.now(), settings.service.timeZone)
  const streams = jobStreams(job)
  return await executeAudit(context, {
    settings,
    db,
    // Of few calls a day none is for a comparison.
    streams: streams.filter(({ isBudgeted }) => !isBudgeted),
    unaudited: streams.filter(({ isBudgeted }) => isBudgeted).map(({ name }) => name),
    namesChannels: false,
    window: range && rangeWindow(range, settings.historyFrom, now),
    pages: 0,
    seed: undefined,
    reopens: true,
    command: `run ${job.name}`,
    connection,
  })
}
