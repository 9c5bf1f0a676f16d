import type { Clock } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'

/** How the scheduler finds its database. */
export interface DatabaseHealth {
  readonly isUp: boolean
  /** Since when it has been so, as far as this process knows. */
  readonly sinceMs: number
  /** What it says; undefined while it is up. */
  readonly problem: string | undefined
}

export interface Health {
  readonly databaseAnswers: () => void
  readonly databaseFails: (error: LivehouseError) => void
  readonly database: () => DatabaseHealth
}

/** Says so once when the database goes, and once when it is back. */
export function createHealth(clock: Clock, log: Log): Health {
  let state: DatabaseHealth = { isUp: true, sinceMs: clock.now(), problem: undefined }
  return {
    databaseAnswers: () => {
      if (state.isUp) return
      log.info('database.back', { afterMs: clock.now() - state.sinceMs })
      state = { isUp: true, sinceMs: clock.now(), problem: undefined }
    },
    databaseFails: ({ message }) => {
      if (state.isUp) log.error('database.lost', { reason: message })
      state = { isUp: false, sinceMs: state.isUp ? clock.now() : state.sinceMs, problem: message }
    },
    database: () => state,
  }
}

/** Whether an error is the database's to mend: then it is waited for. */
export function isOfDatabase(error: unknown): error is LivehouseError {
  return error instanceof LivehouseError && error.code.startsWith('db.')
}
