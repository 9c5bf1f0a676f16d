import type { ReportProgress } from '../../core/progress.ts'
import type { Job } from '../../scheduler/job.ts'
import type { RunJob } from '../../scheduler/perform-run.ts'
import { auditObject, describeAudit } from '../audit/report.ts'
import type { CliContext } from '../command.ts'
import { outcomeObject } from '../outcome-json.ts'
import { summarize } from '../summary.ts'
import { beatHeart } from './beat-heart.ts'
import type { JobDeps, JobResult } from './job-deps.ts'
import { runAuditJob } from './run-audit-job.ts'
import { runBackfillJob } from './run-backfill-job.ts'
import { runSyncJob } from './run-sync-job.ts'

/** What the scheduler calls to run a job. */
export function createRunJob(context: CliContext, deps: JobDeps): RunJob {
  return async (job, { signal, report }) => {
    const result = await runKind({ ...context, signal, openProgress: () => bothOf(context, report) }, job, deps)
    deps.onResult?.(result)
    if (result.outcome.status === 'ok') await beatHeart({ ...context, signal })
    return result.outcome
  }
}

async function runKind(context: CliContext, job: Job, deps: JobDeps): Promise<JobResult> {
  const { definition } = job
  if (definition.kind === 'audit') {
    const outcome = await runAuditJob(context, job, definition, deps)
    // Values of rows are for whoever asks for them.
    const toObject = () => auditObject(outcome, { withValues: false })
    return { outcome, describe: () => describeAudit(outcome), toObject }
  }
  const outcome =
    definition.kind === 'backfill'
      ? await runBackfillJob(context, job, definition, deps)
      : await runSyncJob(context, job, definition, deps)
  return { outcome, describe: () => summarize(outcome), toObject: () => outcomeObject(outcome) }
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
