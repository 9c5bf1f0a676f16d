import { Argument, Option, Command as Parser } from 'commander'
import { didYouMean } from '../core/did-you-mean.ts'
import { streamNames } from '../streams/registry.ts'
import type { CliContext, Command } from './command.ts'
import { checkUsage, type Refuse } from './wrong-use.ts'

/**
 * A flag: what it does, for one that takes no value; else what stands for its value, what it does, and the actions that it belongs to
 * (none: all). A `?` behind what stands for the value: it may be empty. An empty value: it takes none.
 */
type Flag = string | readonly [value: string, does: string, ...actions: string[]]
type Flags = Readonly<Record<string, Flag>>

type Value<F extends Flag> = F extends string | readonly ['', ...unknown[]] ? boolean : string | undefined

/** How a verb is used; its parser and its `--help` are made from it. */
export interface Usage<A extends string, F extends Flags> {
  readonly verb: string
  readonly about: string
  /** What its first word may be, and what each does. */
  readonly actions?: Readonly<Record<A, string>>
  /** The one that is meant where none is given. */
  readonly defaultAction?: NoInfer<A>
  /** Stands for the words behind the action, one each; a `…` at its end allows any number. */
  readonly words?: string
  /** What stands behind `--` is for another program. */
  readonly passesOn?: boolean
  readonly flags: F
  /** Behind the flags: exit codes, for instance. */
  readonly notes?: string
  readonly examples: string
}

/** What was typed behind a verb. */
export interface Given<A extends string, F extends Flags> {
  readonly action: A
  readonly words: readonly string[]
  readonly values: { readonly [Name in keyof F]: Value<F[Name]> }
  /** What stood behind `--`, where that is for another program. */
  readonly passedOn: readonly string[]
}

/**
 * A verb from its usage. `read` makes of what was typed what `act` needs, and refuses what is wrong.
 * `run` @throws LivehouseError `usage.invalid` with every problem of the command line at once.
 */
export function defineCommand<const A extends string, const F extends Flags, T>(
  usage: Usage<A, F>,
  read: (given: Given<A, F>, refuse: Refuse) => T,
  act: (context: CliContext, asked: T) => Promise<number>,
): Command {
  return {
    get help() {
      return helpOf(usage)
    },
    run: async (context, argv) =>
      await act(
        context,
        checkUsage(usage.verb, (refuse) => read(parse(usage, argv, refuse), refuse)),
      ),
  }
}

const HELP_WIDTH = 120

function helpOf(usage: Usage<string, Flags>): string {
  const { actions = {}, defaultAction, words, notes, examples } = usage
  const parser = parserOf(usage)
  const named = Object.keys(actions).join(' | ')
  const action = defaultAction === undefined ? named : `[${named}]`
  parser.usage([action, words, '[flags]'].filter((part) => part !== undefined && part !== '').join(' '))
  parser.configureHelp({ helpWidth: HELP_WIDTH })
  for (const [name, does] of Object.entries(actions)) parser.addArgument(new Argument(`<${name}>`, does))
  const indented = examples.replaceAll(/^/gm, '  ')
  return [parser.helpInformation(), ...(notes === undefined ? [] : [notes, '']), 'Examples:', indented].join('\n')
}

/** Lines of one paragraph are joined, as help wraps them by its own width. */
function asParagraphs(text: string): string {
  return text.replaceAll(/(?<=\S)\n(?=\S)/g, ' ')
}

function parserOf({ verb, about, flags }: Usage<string, Flags>): Parser {
  const parser = new Parser(`livehouse ${verb}`)
    .description(asParagraphs(about))
    .helpOption(false)
    .optionsGroup('Flags:')
  for (const [name, flag] of Object.entries(flags)) {
    const [value, does, ...actions] = typeof flag === 'string' ? ['', flag] : flag
    const where = actions.length === 0 ? '' : `${actions.join(', ')}: `
    const option = new Option(value === '' ? `--${name}` : `--${name} <${value}>`, where + does)
    // A value that is required ends the parsing where it is missing; this one is reported with everything else.
    option.optional = option.required
    option.required = false
    parser.addOption(option)
  }
  return parser
}

function parse<A extends string, F extends Flags>(
  usage: Usage<A, F>,
  argv: readonly string[],
  refuse: Refuse,
): Given<A, F> {
  const { flags, actions, defaultAction, words: expected = '', passesOn = false } = usage
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  const behind = argv.slice(end + 1)
  const values = new Map<string, string | boolean>(
    Object.keys(flags).flatMap((name) => (takesValue(flags[name]) ? [] : [[name, false] as const])),
  )
  const seen = new Set<string>()
  const parser = parserOf(usage)
  for (const name of Object.keys(flags)) {
    parser.on(`option:${name}`, (value: string | null | undefined) => {
      if (value === null || (value === '' && !mayBeEmpty(flags[name]))) refuse(`--${name} needs a value`)
      else if (seen.has(name)) refuse(`--${name} is given twice`)
      else values.set(name, value ?? true)
      seen.add(name)
    })
  }
  const { operands, unknown } = parser.parseOptions(argv.slice(0, end))
  const known = Object.keys(flags).map((name) => `--${name}`)
  for (const flag of unknown.filter(isFlag).map((each) => each.replace(/=.*/s, ''))) {
    refuse(known.includes(flag) ? `${flag} takes no value` : `there is no ${flag}${didYouMean(flag, known)}`)
  }
  const words = [...operands, ...unknown.filter((word) => !isFlag(word)), ...(passesOn ? [] : behind)]
  const action = actions && chooseAction(words, Object.keys(actions), defaultAction, refuse)
  const most = expected.endsWith('…') ? Infinity : expected.split(' ').filter(Boolean).length
  for (const surplus of words.slice(most)) {
    const isStream = 'streams' in flags && streamNames.some((name) => name === surplus)
    refuse(`there is no place for ${JSON.stringify(surplus)}${isStream ? `; did you mean --streams ${surplus}?` : ''}`)
  }
  for (const name of seen) {
    const [, , ...of] = flags[name] ?? []
    if (action !== undefined && typeof flags[name] !== 'string' && of.length > 0 && !of.includes(action))
      refuse(`--${name} does not belong to ${action}; it belongs to ${of.join(' and ')}`)
  }
  // The flags' own types say of each which kind of value it has; the action is one of its names, or was refused.
  const given: unknown = { action, words, values: Object.fromEntries(values), passedOn: passesOn ? behind : [] }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return given as Given<A, F>
}

/** Takes the action from the front of the words. It may be of two words. */
function chooseAction(
  words: string[],
  actions: readonly string[],
  defaultAction: string | undefined,
  refuse: Refuse,
): string | undefined {
  const found = actions.find((name) => words.slice(0, name.split(' ').length).join(' ') === name)
  if (found !== undefined) words.splice(0, found.split(' ').length)
  if (found !== undefined || (words.length === 0 && defaultAction !== undefined)) return found ?? defaultAction
  const [given] = words.splice(0)
  const list = `; the actions are ${actions.join(', ')}`
  refuse(
    given === undefined
      ? `no action is given${list}`
      : `there is no action ${JSON.stringify(given)}${didYouMean(given, actions) || list}`,
  )
  return undefined
}

function isFlag(word: string): boolean {
  return word.length > 1 && word.startsWith('-')
}

function takesValue(flag: Flag | undefined): boolean {
  return typeof flag === 'object' && flag[0] !== ''
}

function mayBeEmpty(flag: Flag | undefined): boolean {
  return typeof flag === 'object' && flag[0].endsWith('?')
}
