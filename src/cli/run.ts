import { sendAlerts } from '../app/alerts/send-alerts.ts'
import { cancelRun } from '../app/cancel-run.ts'
import { openRunConnection } from '../app/open-connection.ts'
import { openUpToDate } from '../app/open-database.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { outcomeObject } from '../app/outcome.ts'
import { type AuditOutcome, auditObject } from '../app/run-audit.ts'
import { createRunJob } from '../app/run-job.ts'
import { readDatabaseSettings, readServiceTimeZone, readSettings } from '../config.ts'
import type { RunOutcome } from '../core/outcome.ts'
import { runByHand } from '../scheduler/perform-run.ts'
import type { CliContext } from './command.ts'
import { describeAudit } from './describe-audit.ts'
import { exitCodes } from './exit-codes.ts'
import { RUN_JSON_HELP } from './flags.ts'
import { printResult } from './format.ts'
import { loadConfiguredJob, readJobSettings } from './jobs.ts'
import { summarize } from './summary.ts'
import { defineCommand } from './usage.ts'

export const run = defineCommand(
  {
    about: `Runs one job now, even if it is disabled, and exits when it has finished: for cron, systemd and Kubernetes.
A job is a file of jobs/, or of LIVEHOUSE_JOBS_DIR. Does nothing if another process is running the job. With --cancel,
ends a run of any command, on any machine, and the work of its workers.`,
    words: 'JOB',
    flags: { cancel: ['RUN', 'cancels the run of this number, which livehouse status shows'], json: RUN_JSON_HELP },
    notes: `Exit codes: 0 everything has landed, 1 nothing could be done, 2 wrong use, 3 a part failed or fell short, 4
work is left that waits, or another process is running the job, 130 and 143 interrupted.`,
    examples: `livehouse run nightly
livehouse run --cancel 12
livehouse run v1-history --json | jq .resumes_at
15 2 * * *  cd /srv/livehouse && npx livehouse run nightly     in a crontab`,
  },
  ({ values, words }, refuse) => {
    const [name = ''] = words
    const { cancel: runId, json: isJson } = values
    if (runId === undefined && name === '') refuse('which job? livehouse jobs lists them')
    if (runId !== undefined && (name !== '' || !/^\d{1,18}$/.test(runId))) refuse('--cancel takes a number, and no job')
    return { name, runId, isJson }
  },
  async (context, { name, runId, isJson }) => {
    if (runId !== undefined) return await cancel(context, runId, isJson)
    const timeZone = readSettings(context.environment, readServiceTimeZone)
    const outcome = await runJobByName(context, name)
    const [object, lines] =
      'partitions' in outcome
        ? [auditObject(outcome), describeAudit(outcome)]
        : [outcomeObject(outcome), summarize(outcome, timeZone)]
    printResult(context, isJson, { ...object, command: 'run', job: name }, lines)
    return exitCodes[outcome.status]
  },
)

async function cancel(context: CliContext, runId: string, isJson: boolean): Promise<number> {
  await using opened = await openUpToDate(context, readSettings(context.environment, readDatabaseSettings))
  const isCancelled = opened.db !== undefined && (await cancelRun(opened.db, runId))
  const line = `run ${runId} ${isCancelled ? 'ends within seconds' : 'is not under way: nothing was done'}`
  printResult(context, isJson, { run_id: runId, cancelled: isCancelled }, [line])
  return isCancelled ? 0 : 1
}

async function runJobByName(context: CliContext, name: string): Promise<RunOutcome | AuditOutcome> {
  const { clock, log, signal } = context
  const startedAt = new Date(clock.now()).toISOString()
  const job = await loadConfiguredJob(context, name)
  const settings = readJobSettings(context, job)
  await using db = await openWarehouse(context, settings.database, settings.service)
  let result: RunOutcome | AuditOutcome | undefined
  await using connection = await openRunConnection(context, settings, db)
  const runJob = createRunJob(context, {
    db,
    connection,
    readSettings: (each) => readJobSettings(context, each),
    onResult: (outcome) => (result = outcome),
  })
  try {
    await runByHand(job, { db, clock, log, signal, runJob })
  } finally {
    // A run sends its own alerts; these are for failures before the run begins.
    await sendAlerts(context, db, settings)
  }
  return result ?? createHeldOutcome(name, startedAt, new Date(clock.now()).toISOString())
}

function createHeldOutcome(job: string, startedAt: string, finishedAt: string): RunOutcome {
  const message = `another process is running the job ${job}, so nothing was done; livehouse jobs shows since when`
  const errors = [{ stream: null, partition: null, code: 'job.running', message }] as const
  const times = { startedAt, finishedAt, resumesAt: null }
  return { runId: null, command: `run ${job}`, status: 'waiting', ...times, streams: {}, errors }
}
