import type { AppContext } from '../app/context.ts'
import type { Environment } from '../config/setting-source.ts'

/** What a verb is given to work with; created in `run-command-line.ts`, replaced by tests. */
export interface CliContext extends AppContext {
  readonly environment: Environment
  readonly version: string
  /** Prints a line of results to standard output. `data` is printed unchanged, unless to a terminal. */
  readonly print: (line: string, kind?: 'data') => void
}

/** A verb, as `livehouse --help` lists it; loaded only when it is called, so that `--help` stays quick. */
export type CommandEntry = readonly [summary: string, load: () => Promise<Command>]

/** One verb of the command line, one file each in `src/cli`. */
export interface Command {
  /** The text of `livehouse VERB --help`. `run` never gets `--help`. */
  readonly help: (verb: string) => string
  /**
   * @returns the exit code; an interrupted run exits with 130 or 143 whatever it returns.
   * @throws LivehouseError; it is printed, as JSON where `--json` was given, and becomes the exit code.
   */
  readonly run: (context: CliContext, argv: readonly string[]) => Promise<number>
}
