import type { RunOutcome } from '../../core/outcome.ts'
import type { ReportProgress } from '../../core/progress.ts'
import type { Job } from '../../scheduler/job.ts'
import type { RunJob } from '../../scheduler/perform-run.ts'
import type { CliContext } from '../command.ts'
import type { JobDeps } from './job-deps.ts'
import { runBackfillJob } from './run-backfill-job.ts'
import { runSyncJob } from './run-sync-job.ts'

/** What the scheduler calls to run a job. */
export function createRunJob(context: CliContext, deps: JobDeps): RunJob {
  return async (job, { signal, report }) => {
    const outcome = await runKind({ ...context, signal, openProgress: () => bothOf(context, report) }, job, deps)
    deps.onOutcome?.(outcome)
    return outcome
  }
}

async function runKind(context: CliContext, job: Job, deps: JobDeps): Promise<RunOutcome> {
  const { definition } = job
  if (definition.kind === 'backfill') return await runBackfillJob(context, job, definition, deps)
  return await runSyncJob(context, job, definition, deps)
}

/** Progress for whoever looks at this process, and for whoever listens to the scheduler. */
async function bothOf({ openProgress }: CliContext, report: ReportProgress) {
  const shown = await openProgress()
  const tell: ReportProgress = (event) => {
    shown.report(event)
    report(event)
  }
  return { report: tell, [Symbol.dispose]: () => shown[Symbol.dispose]() }
}
