import type { Kysely } from 'kysely'
import type { JobOutcome } from '../../src/app/run-job.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { Job, JobDefinition } from '../../src/core/define-job.ts'
import { type ServeOptions, serveJobs } from '../../src/scheduler/serve-jobs.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordingLog } from './recording-log.ts'

export type TestScheduler = ReturnType<typeof startScheduler>

export const okOutcome: JobOutcome = { runId: null, status: 'ok', errors: [] }

export function jobOf(name: string, definition: JobDefinition): Job {
  const { kind = 'sync', cron, timezone = 'Asia/Shanghai', enabled = true, catchUp = 'once' } = definition
  return { name, kind, cron, timeZone: timezone, isEnabled: enabled, catchUp, definition }
}

/** Starts a scheduler in this process, and records what it logs. */
export function startScheduler(
  db: Kysely<Database>,
  clock: Clock,
  jobs: readonly Job[],
  send: ServeOptions['send'],
  restore?: ServeOptions['restore'],
) {
  const { log, lines } = createRecordingLog()
  const controller = new AbortController()
  const ended = serveJobs({ db, clock, log, signal: controller.signal, jobs, send, ...(restore && { restore }) })
  ended.catch(() => {})
  return {
    ended,
    /** The names of the events that were logged. */
    events: () => lines.map(({ event }) => event),
    /** Ends it as a signal would. */
    stop: async () => {
      controller.abort()
      await ended
    },
  }
}
