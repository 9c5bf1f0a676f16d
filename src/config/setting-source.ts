import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { didYouMean } from '../core/did-you-mean.ts'
import { codeOf, messageOf } from '../core/errors.ts'
import { packageFolder } from '../core/program-files.ts'

/** The process environment with `.env` filled in. The readers of settings also follow `NAME_FILE`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Readers of settings take values from it, and report to it what is wrong with them. */
export type SettingSource = ReturnType<typeof createSettingSource>

/** Reads files only when a setting is asked for, so that a command meets the problems of its own settings alone. */
export function createSettingSource(values: Environment) {
  const found = new Set<string>()
  const refuse = (problem: string): void => void found.add(problem)

  const fromFile = (name: string, path: string): string | undefined => {
    try {
      const text = readFileSync(path, 'utf8').trim()
      if (text === '') refuse(`${name}_FILE names ${path}, which is empty; it should hold the value of ${name}`)
      return text === '' ? undefined : text
    } catch (error) {
      refuse(
        `${name}_FILE names ${path}, which cannot be read (${reasonOf(error)}); it should hold the value of ${name}`,
      )
      return undefined
    }
  }

  const value = (name: string): string | undefined => {
    const direct = values[name]?.trim() || undefined
    const path = values[`${name}_FILE`]?.trim() || undefined
    if (path === undefined) return direct
    if (direct === undefined) return fromFile(name, path)
    refuse(`${name} and ${name}_FILE are both set; it should be one of them`)
    return undefined
  }

  return {
    /** The value, trimmed, also from the file that `NAME_FILE` names; undefined when it is not set or blank. */
    value,
    /** Whether the variable or its `_FILE` form is there at all, readable or not. */
    isSet: (name: string): boolean => [name, `${name}_FILE`].some((each) => (values[each] ?? '').trim() !== ''),
    /** Adds a line: the variable, what was given (never a secret), what it should be. */
    refuse,
    /** In the order in which they were found, each once. */
    problems: (): readonly string[] => [...found],
  }
}

/** Whether the group of a file or folder, or everybody, may change it, and so decide what it contains. */
export function writersOf(path: string): 'its group' | 'everybody' | undefined {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  if (process.platform === 'win32') return undefined
  return (mode & 0o002) !== 0 ? 'everybody' : (mode & 0o020) !== 0 ? 'its group' : undefined
}

/** What is wrong if this process is root and everybody may change the file; undefined if that is not so. */
export function describeOpenFile(path: string, uid = process.getuid?.()): string | undefined {
  if (uid !== 0 || writersOf(path) !== 'everybody') return undefined
  return `${path} may be changed by everybody, and livehouse runs as root; take that right away: chmod o-w ${path}`
}

/** Why a file cannot be read, in a few words. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EACCES') return 'no permission'
  if (code === 'EISDIR') return 'it is a folder'
  return messageOf(error)
}

/** Variables that look like settings of livehouse and are none, mistyped in most cases, with the nearest name. */
export function describeUnknownSettings(environment: Environment): readonly string[] {
  const given = Object.keys(environment).filter((name) => name.startsWith('LIVEHOUSE_'))
  if (given.length === 0) return []
  // `.env.example` has every setting.
  const example = readFileSync(join(packageFolder, '.env.example'), 'utf8')
  const names = [...new Set(example.match(/(?<=^#?)[A-Z0-9_]+(?==)/gm))]
  const unknown = given.filter((name) => !names.includes(name.replace(/_FILE$/, '')))
  const near = (name: string) => didYouMean(names.find((each) => name === `LIVEHOUSE_${each}`) ?? name, names)
  return unknown.map((name) => `${name} is no setting${near(name)}`)
}
