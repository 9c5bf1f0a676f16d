import { Argument, Option, Command as Parser } from 'commander'
import { didYouMean } from '../core/did-you-mean.ts'
import { wrongUse } from '../core/errors.ts'
import { streamNames } from '../streams/registry.ts'
import type { CliContext, Command } from './command.ts'

/**
 * A flag: what it does, if it takes no value; else a placeholder for its value (empty: it takes none), what it does,
 * and the actions that it belongs to (none: all).
 */
type Flag = string | readonly [value: string, does: string, ...actions: string[]]
type Flags = Readonly<Record<string, Flag>>

type Value<F extends Flag> = F extends string | readonly ['', ...unknown[]] ? boolean : string | undefined

/** The usage of a verb. Its parser and its `--help` are made from it. */
export interface Usage<A extends string, F extends Flags> {
  readonly about: string
  readonly actions?: Readonly<Record<A, string>>
  /** The action if none is given. */
  readonly defaultAction?: NoInfer<A>
  /** Names of the words after the action; a `…` at the end allows any number. */
  readonly words?: string
  readonly flags: F
  /** Shown after the flags: exit codes, for instance. */
  readonly notes?: string
  readonly examples: string
}

interface Given<A extends string, F extends Flags> {
  readonly action: A
  readonly words: readonly string[]
  readonly values: { readonly [Name in keyof F]: Value<F[Name]> }
}

/**
 * Defines a verb. `read` turns the parsed command line into what `act` needs, and refuses what is wrong.
 * `run` @throws LivehouseError `usage.invalid` listing every problem of the command line.
 */
export function defineCommand<const A extends string, const F extends Flags, T>(
  usage: Usage<A, F>,
  read: (given: Given<A, F>, refuse: Refuse) => T,
  act: (context: CliContext, asked: T) => Promise<number>,
): Command {
  return {
    help: (verb) => helpOf(verb, usage),
    run: async (context, argv) => {
      const asked = checkUsage((refuse) => read(parse(usage, argv, refuse), refuse))
      return await act(context, asked)
    },
  }
}

/** Reports a problem with a flag or an argument, in a whole sentence. */
export type Refuse = (problem: string) => void

/**
 * Calls `read`, which reports problems to `refuse`.
 * @throws LivehouseError `usage.invalid` listing every problem.
 */
export function checkUsage<T>(read: (refuse: Refuse) => T): T {
  const problems: string[] = []
  const result = read((problem) => void problems.push(problem))
  if (problems.length === 0) return result
  throw wrongUse(...problems)
}

const HELP_WIDTH = 120

function helpOf(verb: string, usage: Usage<string, Flags>): string {
  const { actions = {}, defaultAction, words, notes, examples } = usage
  const parser = parserOf(usage).name(`livehouse ${verb}`)
  const actionNames = Object.keys(actions).join(' | ')
  const action = defaultAction === undefined ? actionNames : `[${actionNames}]`
  parser.usage([action, words, '[flags]'].filter((part) => part !== undefined && part !== '').join(' '))
  parser.configureHelp({ helpWidth: HELP_WIDTH })
  for (const [name, does] of Object.entries(actions)) parser.addArgument(new Argument(`<${name}>`, does))
  const indented = examples.replaceAll(/^/gm, '  ')
  return [parser.helpInformation(), ...(notes === undefined ? [] : [notes, '']), 'Examples:', indented].join('\n')
}

function parserOf({ about, flags }: Usage<string, Flags>): Parser {
  const parser = new Parser()
    // Join the lines of a paragraph: help wraps them at its own width.
    .description(about.replaceAll(/(?<=\S)\n(?=\S)/g, ' '))
    .helpOption(false)
    .optionsGroup('Flags:')
  for (const [name, flag] of Object.entries(flags)) {
    const [value, does, ...actions] = partsOf(flag)
    const where = actions.length === 0 ? '' : `${actions.join(', ')}: `
    const option = new Option(value === '' ? `--${name}` : `--${name} <${value}>`, where + does)
    // A missing required value would end the parsing. An optional one is reported below, with all other problems.
    option.optional = option.required
    option.required = false
    parser.addOption(option)
  }
  return parser
}

function partsOf(flag: Flag): Exclude<Flag, string> {
  return typeof flag === 'string' ? ['', flag] : flag
}

function parse<A extends string, F extends Flags>(
  usage: Usage<A, F>,
  argv: readonly string[],
  refuse: Refuse,
): Given<A, F> {
  const { flags, actions, defaultAction, words: expected = '' } = usage
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const parser = parserOf(usage)
  const before = argv.slice(0, end)
  const { operands, unknown } = parser.parseOptions(before)
  const flagNames = Object.keys(flags).map((name) => `--${name}`)
  for (const flag of unknown.filter(isFlag).map((each) => each.replace(/=.*/s, ''))) {
    refuse(flagNames.includes(flag) ? `${flag} takes no value` : `there is no ${flag}${didYouMean(flag, flagNames)}`)
  }
  const words = [...operands, ...unknown.filter((word) => !isFlag(word)), ...argv.slice(end + 1)]
  const action = actions && chooseAction(words, Object.keys(actions), defaultAction, refuse)
  const maxWords = expected.endsWith('…') ? Infinity : expected.split(' ').filter(Boolean).length
  refuseWords(words.slice(maxWords), refuse, 'streams' in flags)
  const values = parser.options.map((option) => {
    const name = option.name()
    const times = before.filter((each) => each.replace(/=.*/s, '') === `--${name}`).length
    const given: unknown = parser.getOptionValue(option.attributeName())
    const value = given === true ? undefined : given
    const [, , ...of] = partsOf(flags[name] ?? '')
    if (option.optional && given === true) refuse(`--${name} needs a value`)
    if (times > 1) refuse(`--${name} is given twice`)
    if (times > 0 && action !== undefined && of.length > 0 && !of.includes(action))
      refuse(`--${name} does not belong to ${action}; it belongs to ${of.join(' and ')}`)
    return [name, option.optional ? value : times > 0] as const
  })
  // Each flag's type determines the type of its value; the action is one of the known names, or was refused.
  const given: unknown = { action, words, values: Object.fromEntries(values) }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return given as Given<A, F>
}

/** Refuses surplus words. @param hasStreams whether there is a flag `--streams` to suggest */
export function refuseWords(words: readonly string[], refuse: Refuse, hasStreams = false): void {
  for (const word of words) {
    const isStream = hasStreams && streamNames.some((name) => name === word)
    refuse(`unexpected argument ${JSON.stringify(word)}${isStream ? `; did you mean --streams ${word}?` : ''}`)
  }
}

/** Removes the action, one or two words, from the front of the words. */
function chooseAction(
  words: string[],
  actions: readonly string[],
  defaultAction: string | undefined,
  refuse: Refuse,
): string | undefined {
  const match = actions.find((name) => words.slice(0, name.split(' ').length).join(' ') === name)
  if (match !== undefined) words.splice(0, match.split(' ').length)
  if (match !== undefined || (words.length === 0 && defaultAction !== undefined)) return match ?? defaultAction
  const [given] = words.splice(0)
  const list = `; the actions are ${actions.join(', ')}`
  if (given === undefined) refuse(`no action is given${list}`)
  else refuse(`there is no action ${JSON.stringify(given)}${didYouMean(given, actions) || list}`)
  return undefined
}

function isFlag(word: string): boolean {
  return word.length > 1 && word.startsWith('-')
}
