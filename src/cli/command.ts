import type { Environment } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { ReportProgress } from '../core/progress.ts'

/** What a verb gets to work with; created in `run-command-line.ts`, replaced by tests. */
export interface CliContext {
  readonly environment: Environment
  /** Of livehouse. */
  readonly version: string
  readonly clock: Clock
  readonly log: Log
  /** From now on the log and error messages never show this value: fetched tokens, tickets, made passwords. */
  readonly addSecret: (value: string) => void
  /** Aborts on SIGINT and SIGTERM, with a `run.interrupted` error as its reason. */
  readonly signal: AbortSignal
  /** Results: one call a line, without the line feed. Standard output carries nothing else. */
  readonly print: (line: string) => void
  /** Remarks and progress for a person: standard error. */
  readonly remark: (line: string) => void
  /** Standard error is a terminal, and neither NO_COLOR nor CI asks for plain lines. */
  readonly isInteractive: boolean
  /** Shows how a run goes on until it is disposed of: bars on a terminal, sparse log lines elsewhere. */
  readonly openProgress: () => Promise<Progress>
}

/** A display of how a run goes on. */
export interface Progress extends Disposable {
  readonly report: ReportProgress
}

/** A verb as `livehouse --help` knows it. */
export interface CommandEntry {
  /** One line in `livehouse --help`. */
  readonly summary: string
  /** Loaded when it is called, so that `--help` stays quick. */
  readonly load: () => Promise<Command>
}

/** One verb of the command line, one file each in `src/cli`. */
export interface Command {
  /** The whole text of `livehouse VERB --help`, with examples; `--help` itself is answered before `run`. */
  readonly help: string
  /**
   * @returns the exit code (contract, section 2); an interrupted run exits with 130 or 143 whatever it returns.
   * @throws LivehouseError; it is printed, as JSON where `--json` was given, and becomes the exit code.
   */
  readonly run: (context: CliContext, argv: readonly string[]) => Promise<number>
}
