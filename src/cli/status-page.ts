import type { Kysely } from 'kysely'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { OnCall } from '../api/measure.ts'
import { plannedChannel } from '../app/extraction-settings.ts'
import { jobStreams } from '../app/run-job.ts'
import type { ServiceSettings } from '../config.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import { readHttpSettings } from '../config/read-http.ts'
import { readLanguage } from '../config/read-language.ts'
import type { SettingSource } from '../config/setting-source.ts'
import type { Database } from '../db/database.ts'
import { readMigrationStatus } from '../db/migrate.ts'
import type { JobView } from '../scheduler/http/facts.ts'
import { startStatusServer } from '../scheduler/http/start-status-server.ts'
import type { Job } from '../scheduler/job.ts'
import type { ProgressFeed } from '../scheduler/progress-feed.ts'
import { type JobState, readJobStates } from '../scheduler/read-job-states.ts'
import type { CliContext } from './command.ts'

/** What the page of `serve` is made from. */
export interface StatusPageDeps {
  readonly db: Kysely<Database>
  readonly service: ServiceSettings
  readonly jobs: readonly Job[]
  readonly feed: ProgressFeed
}

/** The page of `serve`; nothing at all where it is off. */
export interface StatusPage extends AsyncDisposable {
  readonly onCall: OnCall | undefined
}

export type StatusPageSettings = ReturnType<typeof readStatusPageSettings>

/** Where the page is, who may see it, in which language, and which time of channels is read. */
export function readStatusPageSettings(source: SettingSource) {
  const ranges = new Map(readChannelsIfAny(source).map((channel) => [channel.channelId, plannedChannel(channel)]))
  return { ...readHttpSettings(source), language: readLanguage(source), ranges }
}

/** Commands that write down runs, beside those of jobs. */
const COMMANDS = ['sync', 'backfill', 'audit', 'demo']

/**
 * Starts the page, and says where it is.
 * @throws config.invalid where it cannot listen
 */
export async function openStatusPage(
  context: CliContext,
  { listen, token, language, ranges }: StatusPageSettings,
  { db, service, jobs, feed }: StatusPageDeps,
): Promise<StatusPage> {
  if (listen === undefined) return { onCall: undefined, [Symbol.asyncDispose]: async () => {} }
  const { clock, log, remark, version } = context
  await waitForPort(listen, context)
  const server = await startStatusServer({
    db,
    clock,
    log,
    listen,
    token,
    language,
    version,
    budget: service,
    commands: [...COMMANDS, ...jobs.map(({ name }) => `run ${name}`)],
    readJobs: async () => (await readJobStates(db, jobs, clock.now())).map(viewOf),
    progress: feed,
    readPending: async () => {
      const migrations = await readMigrationStatus(db)
      return migrations.flatMap(({ name, appliedAt }) => (appliedAt === null ? [name] : []))
    },
    rangeOf: (channelId) => ranges.get(channelId) ?? {},
  })
  remark(`status page: ${server.url}`)
  return server
}

/** A run without an end whose process is gone was interrupted, whatever its record says. */
function viewOf({ job, next, last, isRunning }: JobState): JobView {
  const { name, cron, timeZone } = job
  const { kind, definition, isEnabled } = job
  const streams = isEnabled && kind === 'sync' ? jobStreams(job).map((stream) => stream.name) : []
  const { channels = 'all' } = definition
  const open = isRunning ? 'running' : 'interrupted'
  const status = last?.status === 'ended' ? (last.outcome ?? 'failed') : open
  return {
    name,
    cron,
    timeZone,
    streams,
    channels,
    next,
    isRunning,
    last: last && { startedAt: last.startedAt, status },
  }
}

/** A process that is being replaced ends within 10 s; nobody who has given a wrong port should wait for long. */
const WAIT_MS = 12_000
const POLL_MS = 500

/**
 * Waits a while for a port that another process holds, such as the one that this one replaces; whoever listens there next finds out
 * all that is wrong. @throws the signal's reason
 */
export async function waitForPort(
  { host, port }: { readonly host: string; readonly port: number },
  { clock, remark, signal }: Pick<CliContext, 'clock' | 'remark' | 'signal'>,
): Promise<void> {
  const untilMs = clock.now() + WAIT_MS
  for (let isFirst = true; (await isTaken(host, port)) && clock.now() < untilMs; isFirst = false) {
    if (isFirst) remark(`status page: another program listens on port ${port}, which is waited for`)
    await clock.sleep(POLL_MS, signal)
  }
}

async function isTaken(host: string, port: number): Promise<boolean> {
  const server = createServer().listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  }
  server.close()
  await once(server, 'close')
  return false
}
