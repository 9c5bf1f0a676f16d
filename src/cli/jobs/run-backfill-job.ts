import type { BackfillJob, JobRange } from '../../core/define-job.ts'
import type { RunOutcome } from '../../core/outcome.ts'
import type { Job } from '../../scheduler/job.ts'
import { abandonBackfill, finishBackfill, openBackfill } from '../../state/backfills.ts'
import { planRange } from '../backfill/plan-range.ts'
import type { CliContext } from '../command.ts'
import { runExtraction } from '../run-extraction.ts'
import type { JobDeps } from './job-deps.ts'
import { readBackfillJob } from './read-backfill-job.ts'

/** Reads the range of a job again. What is left of one with fixed dates is gone on with when it is due again. */
export async function runBackfillJob(
  context: CliContext,
  job: Job,
  { range, onlyGaps = false }: BackfillJob,
  { db, connection }: JobDeps,
): Promise<RunOutcome> {
  const { signal } = context
  const { serviceClock: clock } = connection
  await clock.refresh(signal)
  const asked = readBackfillJob(context, job, { range, onlyGaps }, clock.now())
  const { settings, startedAt, window, streams, wanted } = asked
  const { service, configured, channels, historyFrom, alerts } = settings
  const { backfillId } = await openBackfill(db, wanted, startedAt, false)
  const outcome = await runExtraction(context, {
    command: `run ${job.name}`,
    settings: { job: job.name, ...wanted },
    service,
    db,
    channels: configured,
    namesChannels: false,
    streams,
    planStreams: (now) => planRange(db, { channels, historyFrom, service }, { window, now, backfillId, onlyGaps }),
    isPatient: true,
    order: 'oldest-first',
    connection,
    alerts,
  })
  const endedAt = new Date(clock.now())
  const hasMoved = Object.values(outcome.streams).some(({ slices }) => slices.moving > 0)
  if (outcome.status === 'ok' && !hasMoved) await finishBackfill(db, backfillId, endedAt)
  // Tomorrow the range is another one: nobody comes back to this.
  else if (!isFixed(range) && !signal.aborted) await abandonBackfill(db, backfillId, endedAt)
  return outcome
}

function isFixed(range: JobRange): boolean {
  return !('lastDays' in range) && range.to !== undefined
}
