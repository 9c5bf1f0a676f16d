import { randomUUID } from 'node:crypto'
import { openRunConnection } from '../app/open-connection.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { createRunJob, readJobSettings } from '../app/run-job.ts'
import { watchAlerts } from '../app/watch-alerts.ts'
import { readDatabaseSettings, readServiceSettings, readSettings } from '../config.ts'
import { readAlertSettings } from '../config/read-alerts.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import { createHealth } from '../scheduler/health.ts'
import type { Job } from '../scheduler/job.ts'
import { createProgressFeed } from '../scheduler/progress-feed.ts'
import { serveJobs } from '../scheduler/serve-jobs.ts'
import { openTimetable } from '../scheduler/timetable.ts'
import { thisProcess } from '../state/leases.ts'
import { loadConfiguredJobs } from './configured-jobs.ts'
import { createPlainProgress } from './plain-progress.ts'
import { openStatusPage, readStatusPageSettings } from './status-page.ts'
import { defineCommand } from './usage.ts'

/** Of the pool, besides those that each running job holds for its locks. */
const SHARED_CONNECTIONS = 10
const CONNECTIONS_PER_JOB = 3

/** `livehouse serve`: the jobs, by their schedule. */
export const serve = defineCommand(
  {
    verb: 'serve',
    about: `Runs the jobs of jobs/, or of LIVEHOUSE_JOBS_DIR, when they are due, until Ctrl-C or SIGTERM. What was missed while nothing
served is made up for once. No job overlaps with itself, and any number of processes may serve one database: each time at which
a job is due is run by one of them. A run that is interrupted, or whose process dies, is taken up again by who is there next. A
database that goes is waited for. Job files are read at the start.

Answers on LIVEHOUSE_HTTP (default 127.0.0.1:8787; off for not at all): a status page in English and Chinese, which only
reads; /healthz, 200 while the process lives; /readyz, 200 while the database answers and has every migration, as JSON;
/metrics for Prometheus. Any other address than this machine's own needs LIVEHOUSE_HTTP_TOKEN: the page asks
for it once, /metrics wants it as Authorization: Bearer, /healthz and /readyz are open.

SIGTERM and Ctrl-C end it within 10 s, with what was in flight finished or rolled back.`,
    flags: {},
    examples: `livehouse serve
LIVEHOUSE_JOBS_DIR=/etc/livehouse/jobs livehouse serve
LIVEHOUSE_HTTP=0.0.0.0:8787 LIVEHOUSE_HTTP_TOKEN_FILE=/run/secrets/http-token livehouse serve`,
  },
  () => undefined,
  async (context) => {
    const { clock, log, signal, environment } = context
    const jobs = await loadConfiguredJobs(context)
    const enabled = jobs.filter(({ isEnabled }) => isEnabled)
    // What is wrong with one is told now, not when it is due.
    for (const job of enabled) readJobSettings(context, job)
    const { service, database, page, alerts } = readSettings(environment, (source) => ({
      service: readServiceSettings(source),
      database: readDatabaseSettings(source),
      page: readStatusPageSettings(source),
      alerts: readAlertSettings(source),
    }))
    const maxConnections = SHARED_CONNECTIONS + CONNECTIONS_PER_JOB * enabled.length
    await using db = await openWarehouse(context, { settings: database, source: service, maxConnections })
    const feed = createProgressFeed()
    await using statusPage = await openStatusPage(context, page, { db, service, jobs, feed })
    // One for all jobs: the ceiling of calls holds for all of them together.
    await using connection = await openRunConnection(context, service, db, { onCall: statusPage.onCall })
    const runContext = { ...context, openProgress: async () => createPlainProgress(log, clock) }
    const health = createHealth(clock, log)
    const worker = thisProcess()

    for (const line of describeNext(enabled, clock.now())) context.remark(line)
    log.info('serve.started', { worker, jobs: enabled.map(({ name }) => name) })
    const over = new AbortController()
    const watching = watchAlerts(
      { ...context, signal: AbortSignal.any([signal, over.signal]) },
      { db, settings: alerts, database, service, jobs: enabled },
    )
    try {
      await serveJobs({
        db,
        clock,
        log,
        signal,
        feed,
        health,
        jobs,
        runJob: createRunJob(runContext, { db, connection }),
        scheduler: {
          schedulerId: randomUUID(),
          worker,
          jobs: Object.fromEntries(jobs.map(({ name, digest }) => [name, digest])),
          startedAt: new Date(clock.now()),
        },
      })
    } finally {
      over.abort()
      await watching
    }
    return 0
  },
)

function describeNext(jobs: readonly Job[], nowMs: number): readonly string[] {
  if (jobs.length === 0) return ['no job is enabled: nothing will run (see livehouse jobs)']
  return jobs.flatMap(({ name, cron, timeZone }) => {
    const next = openTimetable(cron, timeZone).next(nowMs)
    return next ? [`${name}: next at ${formatWallTime(next.localTime).slice(0, 16)} ${timeZone}`] : []
  })
}
