import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import type { Environment } from '../config.ts'

/** What a verb gets to work with; created in `main.ts`, replaced by tests. */
export interface CliContext {
  readonly environment: Environment
  readonly clock: Clock
  readonly log: Log
  /** Aborts on SIGINT and SIGTERM, with a `run.interrupted` error as its reason. */
  readonly signal: AbortSignal
  /** Results: one call a line, without the line feed. Standard output carries nothing else. */
  readonly print: (line: string) => void
  /** Remarks and progress for a person: standard error. */
  readonly remark: (line: string) => void
  /** Standard error is a terminal, and neither NO_COLOR nor CI asks for plain lines. */
  readonly isInteractive: boolean
}

/** One verb of the command line, one file each in `src/cli`. */
export interface Command {
  /** The whole text of `livehouse VERB --help`, with examples. */
  readonly help: string
  /**
   * @returns the exit code (contract, section 2).
   * @throws LivehouseError; `main.ts` prints it, as JSON where `--json` was given, and turns it into the exit code.
   */
  readonly run: (context: CliContext, argv: readonly string[]) => Promise<number>
}
