import { watchCauses } from '../app/alerts/send-alerts.ts'
import { openRunConnection } from '../app/open-connection.ts'
import { restartDatabase } from '../app/open-database.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { createOperatorActions } from '../app/operator-actions.ts'
import { chooseJobStreams, createRunJob } from '../app/run-job.ts'
import { rangeOfChannels } from '../app/settings.ts'
import { readAlertSettings } from '../config/read-alerts.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import { readHttpSettings } from '../config/read-http.ts'
import type { SettingSource } from '../config/setting-source.ts'
import { readLanguage } from '../config/values.ts'
import { readServiceAndDatabase, readSettings } from '../config.ts'
import type { Job } from '../core/define-job.ts'
import { formatWallTime } from '../core/wall-clock.ts'
import { fanOut } from '../scheduler/fan-out.ts'
import { loadJobs } from '../scheduler/load-jobs.ts'
import { openQueue } from '../scheduler/open-queue.ts'
import { createGiveUpHandler, createRunHandler, toDueJob, toRequestedJob } from '../scheduler/perform-run.ts'
import type { Queue } from '../scheduler/queue.ts'
import { type JobState, readJobStates } from '../scheduler/read-job-states.ts'
import { workOnPartitions } from '../scheduler/run-partition.ts'
import { type ServeOptions, serveJobs } from '../scheduler/serve-jobs.ts'
import { openTimetable } from '../scheduler/timetable.ts'
import { workOn } from '../scheduler/work-on.ts'
import type { JobView } from '../web/facts.ts'
import { type StatusServer, type StatusServerOptions, startStatusServer } from '../web/start-status-server.ts'
import type { CliContext } from './command.ts'
import { readJobSettings, readLoadOptions } from './jobs.ts'
import { createPlainProgress } from './plain-progress.ts'
import { defineCommand } from './usage.ts'
import { DEFAULT_CONCURRENCY } from './worker.ts'

/** Connections of the pool, in addition to those that each running job uses. */
const SHARED_CONNECTIONS = 7
const CONNECTIONS_PER_JOB = 3

export const serve = defineCommand(
  {
    about: `Runs the jobs of jobs/, or of LIVEHOUSE_JOBS_DIR, when they are due, until Ctrl-C or SIGTERM; any number of
processes may serve one database. Answers on LIVEHOUSE_HTTP (default 127.0.0.1:8787; off for none): a status
page, /healthz, /readyz and /metrics. Any address but this machine's own needs LIVEHOUSE_HTTP_TOKEN,
which also enables actions on the page. See docs/operations.md.`,
    flags: {},
    examples: `livehouse serve
LIVEHOUSE_JOBS_DIR=/etc/livehouse/jobs livehouse serve
LIVEHOUSE_HTTP=0.0.0.0:8787 LIVEHOUSE_HTTP_TOKEN_FILE=/run/secrets/http-token livehouse serve`,
  },
  () => undefined,
  async (context) => {
    const { clock, log, signal, environment } = context
    const jobs = await loadJobs(readSettings(environment, readLoadOptions))
    const enabled = jobs.filter(({ isEnabled }) => isEnabled)
    // Refuse a wrong job now, not when it is due.
    const readSettingsOf = (job: Job) => readJobSettings(context, job)
    for (const job of enabled) readSettingsOf(job)
    const { service, database, page, alerts } = readSettings(environment, (source) => ({
      ...readServiceAndDatabase(source),
      page: readStatusPageSettings(source),
      alerts: readAlertSettings(source),
    }))
    const maxConnections = SHARED_CONNECTIONS + CONNECTIONS_PER_JOB * Math.max(1, enabled.length)
    await using db = await openWarehouse(context, database, service, maxConnections)
    await using queue = await openQueue(context, database)
    await using statusPage = await openStatusPage(context, page, { db, budget: service, jobs, queue })
    // All jobs share one connection, so that the limit of concurrent calls holds for all of them together.
    await using connection = await openRunConnection(context, { service, database }, db, { onCall: statusPage?.onCall })
    const runContext = { ...context, openProgress: async () => createPlainProgress(log, clock) }

    for (const line of describeNext(enabled, clock.now())) context.remark(line)
    const runJob = createRunJob(runContext, { db, connection, readSettings: readSettingsOf, runPhases: fanOut(queue) })
    const performDeps = { db, clock, log, runJob }
    const send: ServeOptions['send'] = async (run) => await queue.send('runs', [toDueJob(run)])
    const restore = async () => await restartDatabase(context, database)
    await runSideBySide(signal, (stop) => {
      const work = { queue, log, signal: stop, concurrency: Math.max(1, enabled.length) }
      const partitions = { queue, db, service, connection, concurrency: DEFAULT_CONCURRENCY }
      return [
        serveJobs({ db, clock, log, signal: stop, jobs, send, restore }),
        workOn({ ...work, name: 'runs', handle: createRunHandler(performDeps) }),
        workOn({ ...work, name: 'given-up', handle: createGiveUpHandler(performDeps) }),
        workOnPartitions({ ...context, signal: stop }, partitions),
        watchCauses({ clock, log, signal: stop }, db, { alerts, service }),
      ]
    })
    return 0
  },
)

/** Waits for all parts; if one fails, ends the others too. */
async function runSideBySide(
  signal: AbortSignal,
  start: (stop: AbortSignal) => readonly Promise<void>[],
): Promise<void> {
  const failed = new AbortController()
  const parts = start(AbortSignal.any([signal, failed.signal]))
  await Promise.all(parts.map(async (part) => await part.catch((error: unknown) => failed.abort(error))))
  failed.signal.throwIfAborted()
}

function describeNext(jobs: readonly Job[], nowMs: number): readonly string[] {
  if (jobs.length === 0) return ['no job is enabled: nothing will run (see livehouse jobs)']
  return jobs.flatMap(({ name, cron, timeZone }) => {
    const next = openTimetable(cron, timeZone).next(nowMs)
    return next ? [`${name}: next at ${formatWallTime(next.localTime).slice(0, 16)} ${timeZone}`] : []
  })
}

/** The status page's address, token and language, and the configured range of each channel. */
function readStatusPageSettings(source: SettingSource) {
  const rangeOf = rangeOfChannels(readChannelsIfAny(source))
  return { ...readHttpSettings(source), language: readLanguage(source), rangeOf }
}

/**
 * Starts the status page and prints its URL; does nothing if the page is off.
 * @throws config.invalid if it cannot listen
 */
async function openStatusPage(
  context: CliContext,
  { listen, ...page }: ReturnType<typeof readStatusPageSettings>,
  { db, budget, jobs, queue }: Pick<StatusServerOptions, 'db' | 'budget'> & { jobs: readonly Job[]; queue: Queue },
): Promise<StatusServer | undefined> {
  if (listen === undefined) return undefined
  const { clock, remark } = context
  const server = await startStatusServer({
    ...context,
    ...page,
    db,
    listen,
    budget,
    readJobs: async () => (await readJobStates(db, jobs, clock.now())).map(toJobView),
    actions: createOperatorActions(context, db, async (name, askedBy) => {
      const matches = jobs.filter((job) => job.name === name)
      const [state] = await readJobStates(db, matches, clock.now())
      if (state === undefined) return 'none'
      if (state.isRunning) return 'running'
      await queue.send('runs', [toRequestedJob({ job: state.job, askedBy }, state.last?.startedAt)])
      return 'queued'
    }),
  })
  remark(`status page: ${server.url}`)
  return server
}

function toJobView({ job, next, last, outcome = 'interrupted' }: JobState): JobView {
  const { name, cron, timeZone, kind, isEnabled, definition } = job
  const streams = isEnabled && kind === 'sync' ? chooseJobStreams(job).map((stream) => stream.name) : []
  const { channels = 'all' } = definition
  return { name, cron, timeZone, streams, channels, next, last: last && { startedAt: last.startedAt, status: outcome } }
}
