import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { SavedProgress } from '../ledger/runs/runs.ts'
import type { openDatabase } from '../store/pool.ts'

/** What every verb, job and worker is given to work with. */
export interface AppContext {
  readonly clock: Clock
  readonly log: Log
  readonly openDatabase: typeof openDatabase
  /** Redacts this value from now on, in logs and error messages: a fetched token, a ticket, a generated password. */
  readonly addSecret: (value: string, kind?: 'passing') => void
  readonly redact: (text: string) => string
  /** Aborts on SIGINT and SIGTERM, with a `run.interrupted` error as its reason. */
  readonly signal: AbortSignal
  /** Writes a line for the user to standard error. */
  readonly remark: (line: string) => void
  /** Who requested the run, for its record; not given if it is the user who started this process. */
  readonly askedBy?: string | undefined
  /** Called with the id of a run when it begins. */
  readonly onRun?: (runId: string) => void
  /**
   * Shows the progress of a run until disposed: bars on a terminal, a few log lines elsewhere. `opening` names work
   * before or after a run; only a terminal shows it, until that work is done.
   */
  readonly openProgress: (opening?: string) => Promise<Progress>
}

/** A display of a run's progress. */
export interface Progress extends Disposable {
  /** Updates the progress of a stream. Never throws and never waits. */
  readonly report: (stream: string, state: SavedProgress) => void
}
