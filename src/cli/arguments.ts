import { type ParseArgsConfig, parseArgs } from 'node:util'
import { LivehouseError } from '../core/errors.ts'
import { didYouMean } from './suggest.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/** What was typed after a verb, by the options' own types. */
export type Arguments<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; strict: true; allowPositionals: true }>
>

/** Takes a whole sentence about what is wrong with a flag or an argument. */
export type Refuse = (problem: string) => void

/**
 * Reads what follows a verb, with the options of `node:util`'s parseArgs. `maxPositionals`: how many bare words it takes.
 * @throws LivehouseError `usage.invalid` with every unknown, repeated, valueless or surplus argument at once.
 */
export function parseArguments<const O extends Options>(
  verb: string,
  argv: readonly string[],
  options: O,
  maxPositionals = 0,
): Arguments<O> {
  checkUsage(verb, (refuse) => {
    for (const problem of problemsOf(argv, options, maxPositionals)) refuse(problem)
  })
  return parseArgs({ args: [...argv], options, strict: true, allowPositionals: true })
}

/**
 * Reads the values of flags with `read`, which refuses what is wrong.
 * @throws LivehouseError `usage.invalid` with every refusal at once.
 */
export function checkUsage<T>(verb: string, read: (refuse: Refuse) => T): T {
  const problems: string[] = []
  const result = read((problem) => problems.push(problem))
  if (problems.length === 0) return result
  throw new LivehouseError('usage.invalid', `wrong use, see livehouse ${verb} --help`, { problems })
}

function problemsOf(argv: readonly string[], options: Options, maxPositionals: number): string[] {
  const { tokens, positionals } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const known = Object.keys(options).map((name) => `--${name}`)
  const seen = new Set<string>()
  const problems = tokens.flatMap((token): string[] => {
    if (token.kind !== 'option') return []
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined
    if (!option) return [`there is no ${token.rawName}${didYouMean(token.rawName, known)}`]
    const isRepeated = seen.has(token.name) && option.multiple !== true
    seen.add(token.name)
    if (isRepeated) return [`${token.rawName} is given twice`]
    if (option.type === 'boolean') return token.value === undefined ? [] : [`${token.rawName} takes no value`]
    const isMissing = token.value === undefined || (!token.inlineValue && token.value.startsWith('-'))
    return isMissing ? [`${token.rawName} needs a value`] : []
  })
  const surplus = positionals.slice(maxPositionals).map((word) => `there is no place for ${JSON.stringify(word)}`)
  return [...problems, ...surplus]
}
