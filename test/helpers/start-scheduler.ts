import type { Kysely } from 'kysely'
import type { Clock } from '../../src/core/clock.ts'
import type { JobDefinition, Job } from '../../src/core/define-job.ts'
import type { Database } from '../../src/store/database.ts'
import type { JobOutcome } from '../../src/app/run-job.ts'
import { serveJobs, type ServeOptions } from '../../src/scheduler/serve-jobs.ts'
import { createRecordingLog } from './recording-log.ts'

/** A scheduler in this process, and what it tells. */
export interface TestScheduler {
  /** Names of events that were logged. */
  readonly events: () => readonly string[]
  /** Ends it as a signal would. */
  readonly stop: () => Promise<void>
}

export const doneWell: JobOutcome = { runId: null, status: 'ok', errors: [] }

export function jobOf(name: string, definition: JobDefinition): Job {
  const { kind = 'sync', cron, timezone = 'Asia/Shanghai', enabled = true, catchUp = 'once' } = definition
  return { name, kind, cron, timeZone: timezone, isEnabled: enabled, catchUp, definition }
}

export function startScheduler(
  db: Kysely<Database>,
  clock: Clock,
  jobs: readonly Job[],
  send: ServeOptions['send'],
): TestScheduler {
  const { log, lines } = createRecordingLog()
  const controller = new AbortController()
  const ended = serveJobs({ db, clock, log, signal: controller.signal, jobs, send })
  ended.catch(() => {})
  return {
    events: () => lines.map(({ event }) => event),
    stop: async () => {
      controller.abort()
      await ended
    },
  }
}
