import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { SavedProgress } from '../ledger/runs/runs.ts'
import type { openDatabase } from '../store/pool.ts'

/** What every verb, job and worker gets. */
export interface AppContext {
  readonly clock: Clock
  readonly log: Log
  readonly openDatabase: typeof openDatabase
  /** From now on the log and error messages never show this value: fetched tokens, tickets, made passwords. */
  readonly addSecret: (value: string, kind?: 'passing') => void
  /** The text without any secret. */
  readonly redact: (text: string) => string
  /** Aborts on SIGINT and SIGTERM, with a `run.interrupted` error as its reason. */
  readonly signal: AbortSignal
  /** Remarks and progress for a person: standard error. */
  readonly remark: (line: string) => void
  /** Who asked for the run, for its record; not given where that is the person who started this process. */
  readonly askedBy?: string | undefined
  /** Called with the id of the run, once the verb has begun one. */
  readonly onRun?: (runId: string) => void
  /**
   * Shows the progress of a run until it is disposed of: bars on a terminal, sparse log lines elsewhere. `opening`:
   * what happens before or after a run, shown on a terminal only and removed afterwards.
   */
  readonly openProgress: (opening?: string) => Promise<Progress>
}

/** A display of a run's progress. */
export interface Progress extends Disposable {
  /** How far a stream has come. Never throws and never waits. */
  readonly report: (stream: string, state: SavedProgress) => void
}
