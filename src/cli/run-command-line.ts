import { type Failure, failureOutcome, outcomeObject, problemsOf, unwrapSuppressed } from '../app/outcome.ts'
import type { Environment } from '../config/setting-source.ts'
import type { Clock } from '../core/clock.ts'
import { didYouMean } from '../core/did-you-mean.ts'
import { hasCode, LivehouseError, messageOf, wrongUse } from '../core/errors.ts'
import { printable } from '../core/text.ts'
import type { RedactingLog } from '../log.ts'
import type { CliContext, Command, CommandEntry } from './command.ts'
import { exitCodeOfError } from './exit-codes.ts'

/** The parts of the process that the command line uses. */
interface CommandLine {
  readonly argv: readonly string[]
  readonly version: string
  readonly commands: Readonly<Record<string, CommandEntry>>
  /** Undefined to read the process environment and `.env`. */
  readonly environment: Environment | undefined
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Rejects when the process must not wait for the command: after a bug, or too long after a signal. */
  readonly emergency: Promise<never>
  readonly writeOut: (text: string) => void
  readonly writeError: (text: string) => void
  readonly isTerminal: boolean
  readonly isOutputTerminal: boolean
}

/** Runs one verb and reports its failure. Loads nothing heavy before the verb is known. @returns the exit code */
export async function runCommandLine(line: CommandLine): Promise<number> {
  const [first, topic = '--help', ...others] = line.argv
  const [verb = '', ...argv] = first === 'help' ? [topic, '--help', ...others] : line.argv
  const show = (text: string): number => {
    line.writeOut(`${text.trimEnd()}\n`)
    return 0
  }
  if (verb === '--help' || verb === '-h') return show(overview(line.commands))
  if (verb === '--version')
    return show(`${line.version} (Node ${process.versions.node}, ${process.platform}-${process.arch})`)
  const isoTime = () => new Date(line.clock.now()).toISOString()
  const startedAt = isoTime()
  const terminal = createTerminal(line.writeError)
  // Write through the terminal: progress bars would overwrite text that is written past it.
  line.signal.addEventListener('abort', () => {
    if (!hasCode(line.signal.reason, 'run.interrupted')) return
    const { signal } = line.signal.reason.details
    terminal.write(`livehouse: ${signal}: finishing what is in flight, 10 s at most; a second signal ends at once\n`)
  })
  let log: RedactingLog | undefined
  let hasPrinted = false
  let runId: string | null = null
  try {
    const command = await loadVerb(line.commands, verb)
    if (isGiven(argv, '--help') || isGiven(argv, '-h')) return show(command.help(verb))
    const logging = await openLog(line, terminal)
    log = logging.log
    const context = createContext(line, logging, terminal)
    const print: CliContext['print'] = (...given) => {
      hasPrinted = true
      context.print(...given)
    }
    const onRun = (begun: string) => void (runId = begun)
    const code = await Promise.race([command.run({ ...context, print, onRun }, argv), line.emergency])
    return line.signal.aborted ? exitCodeOfError(line.signal.reason) : code
  } catch (thrown) {
    const error = unwrapSuppressed(thrown)
    const redact = log?.redact ?? ((text: string) => text)
    const failure = { command: verb, error, startedAt, finishedAt: isoTime() }
    const knownVerb = Object.hasOwn(line.commands, verb) ? [verb] : []
    const see = hasCode(error, 'usage.invalid') ? `, see ${['livehouse', ...knownVerb, '--help'].join(' ')}` : ''
    if (isGiven(line.argv, '--json') && !hasPrinted) {
      const outcome = failureOutcome(runId, failure)
      const errors = outcome.errors.map((each) => ({ ...each, message: each.message + see }))
      line.writeOut(`${printable(redact(JSON.stringify(outcomeObject({ ...outcome, errors }))))}\n`)
    }
    terminal.write(`${printable(redact(describeFailure(failure, see)))}\n`)
    log?.debug('command.failed', { err: thrown })
    return exitCodeOfError(error)
  }
}

/** Describes an error that stopped a command: a message, then a line for each problem. `see`: where to find help. */
function describeFailure({ command, error }: Failure, see: string): string {
  const name = ['livehouse', command].join(' ').trim()
  // The system refuses, for lack of a right or of room on a disk.
  if (error instanceof Error && 'syscall' in error) return `${name}: ${error.message}`
  if (!(error instanceof LivehouseError)) {
    return `${name}: internal error: ${messageOf(error)}\n  This is a bug. LOG_LEVEL=debug shows where it happened.`
  }
  const problems = problemsOf(error)
  const isNew =
    hasCode(error, 'config.invalid') && problems.some((each) => each.startsWith('LIVEHOUSE_BASE_URL is not set'))
  const first = isNew ? ['The first time, `livehouse init` asks for the settings; `livehouse demo` needs none.'] : []
  return [`${name}: ${error.message}${see}`, ...problems.map((problem) => `  ${problem}`), ...first].join('\n')
}

async function loadVerb(commands: CommandLine['commands'], verb: string): Promise<Command> {
  const [, load] = (Object.hasOwn(commands, verb) && commands[verb]) || []
  if (load !== undefined) return await load()
  const unknown = `there is no command ${JSON.stringify(verb)}${didYouMean(verb, Object.keys(commands))}`
  throw wrongUse(verb === '' ? 'no command is given' : unknown)
}

/** The text of `livehouse --help`. Loads no verb. */
function overview(commands: CommandLine['commands']): string {
  const width = Math.max(0, ...Object.keys(commands).map((verb) => verb.length))
  const lines = Object.entries(commands).map(([verb, [summary]]) => `  ${verb.padEnd(width)}  ${summary}`)
  return `Usage: livehouse <command> [flags]

Pulls a live-streaming account's records into Postgres.

Commands:
${lines.join('\n')}

livehouse <command> --help shows its flags and examples.
Settings come from the environment and from .env; .env.example lists them all.
Exit codes: 0 ok, 1 failed, 2 wrong use, 3 partial, 4 waiting, 130 or 143 interrupted.`
}

/** Whether a flag is among the arguments before `--`, even with a value that it does not take. */
function isGiven(argv: readonly string[], flag: string): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end === -1 ? argv.length : end).some((each) => each === flag || each.startsWith(`${flag}=`))
}

async function openLog(line: CommandLine, terminal: Terminal) {
  const [config, { createSettingSource, describeUnknownSettings }, { createLog }] = await Promise.all([
    import('../config.ts'),
    import('../config/setting-source.ts'),
    import('../log.ts'),
  ])
  const environment = line.environment ?? config.readEnvironment()
  const isInteractive = line.isTerminal && !environment.NO_COLOR && !environment.CI && environment.TERM !== 'dumb'
  // Ignore problems here: the command reports those of its settings.
  const source = createSettingSource(environment)
  const log = createLog({
    // Progress bars replace the info lines, unless LOG_LEVEL is set.
    level: isInteractive && !source.isSet('LOG_LEVEL') ? 'warn' : config.readLogLevel(source),
    secrets: config.readSecrets(source),
    zoneOfPeople: line.isTerminal ? config.readServiceTimeZone(source) : undefined,
    write: (text) => terminal.write(printable(text)),
  })
  for (const problem of describeUnknownSettings(environment)) log.warn('setting.unknown', { problem })
  return { environment, isInteractive, log }
}

function createContext(
  { version, clock, signal, writeOut, isOutputTerminal }: CommandLine,
  { environment, isInteractive, log }: Awaited<ReturnType<typeof openLog>>,
  terminal: Terminal,
): CliContext {
  return {
    environment,
    version,
    clock,
    log,
    addSecret: log.addSecret,
    redact: log.redact,
    signal,
    openDatabase: async (url, options) => await (await import('../store/pool.ts')).openDatabase(url, options),
    print: (text, kind) => writeOut(`${kind === 'data' && !isOutputTerminal ? text : printable(text)}\n`),
    remark: (text) => terminal.write(`${printable(text)}\n`),
    openProgress: async (opening) => {
      if (!isInteractive) return (await import('./plain-progress.ts')).createPlainProgress(log, clock)
      return (await import('./progress.ts')).createProgressBars(terminal.divert, clock, { opening })
    },
  }
}

type Terminal = ReturnType<typeof createTerminal>

/** Standard error, shared by log lines, remarks and a progress display that redraws itself. */
function createTerminal(writeOut: (text: string) => void) {
  let current = writeOut
  return {
    /** Writes whole lines, each with its line feed. */
    write: (text: string): void => current(text),
    divert: (writer: (text: string) => void): (() => void) => {
      current = writer
      return () => void (current = writeOut)
    },
  }
}
