import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { didYouMean } from '../core/did-you-mean.ts'
import { codeOf, messageOf } from '../core/errors.ts'
import { packageFolder } from '../core/program-files.ts'

/** The process environment with `.env` filled in. A `SettingSource` also reads the files that `NAME_FILE` names. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Where readers of settings get values, and report problems. */
export type SettingSource = ReturnType<typeof createSettingSource>

/** Reads a file only when its setting is needed, so a command reports only problems with settings that it uses. */
export function createSettingSource(values: Environment) {
  const problems = new Set<string>()
  const refuse = (problem: string): void => void problems.add(problem)

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
    /** The trimmed value of the variable, or of the file that `NAME_FILE` names; undefined if not set or blank. */
    value,
    /** Whether the variable or its `_FILE` form is set, even if its value cannot be read. */
    isSet: (name: string): boolean => [name, `${name}_FILE`].some((each) => (values[each] ?? '').trim() !== ''),
    /** Records a problem: the variable, the value (never a secret), and what it should be. */
    refuse,
    /** The problems in order, without repetitions. */
    problems: (): readonly string[] => [...problems],
  }
}

/** Who besides the owner may write to a file or folder, or read it; undefined if nobody else may, or on Windows. */
export function othersWhoMay(right: 'write' | 'read', path: string): 'its group' | 'everybody' | undefined {
  const mode = process.platform === 'win32' ? 0 : (statSync(path, { throwIfNoEntry: false })?.mode ?? 0)
  const [ofOthers, ofGroup] = right === 'write' ? [0o002, 0o020] : [0o004, 0o040]
  return (mode & ofOthers) !== 0 ? 'everybody' : (mode & ofGroup) !== 0 ? 'its group' : undefined
}

/** A problem if this process is root and everybody may write to the file, or the folder or a file in it. */
export function describeOpenFile(path: string, uid = process.getuid?.()): string | undefined {
  if (uid !== 0) return undefined
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const files = isFolder ? readdirSync(path) : []
  const paths = [path, ...files.map((name) => join(path, name))]
  const open = paths.find((each) => othersWhoMay('write', each) === 'everybody')
  return open && `${open} may be changed by everybody, and livehouse runs as root; remove that right: chmod o-w ${open}`
}

/** Why a file cannot be read, for a message. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EACCES') return 'no permission'
  if (code === 'EISDIR') return 'it is a folder'
  return messageOf(error)
}

/** A message for each `LIVEHOUSE_` variable that is not a setting, with the nearest name: most are typos. */
export function describeUnknownSettings(environment: Environment): readonly string[] {
  const given = Object.keys(environment).filter((name) => name.startsWith('LIVEHOUSE_'))
  if (given.length === 0) return []
  // `.env.example` lists every setting.
  const example = readFileSync(join(packageFolder, '.env.example'), 'utf8')
  const names = [...new Set(example.match(/(?<=^#?)[A-Z0-9_]+(?==)/gm))]
  const unknown = given.filter((name) => !names.includes(name.replace(/_FILE$/, '')))
  const hint = (name: string) => didYouMean(names.find((each) => name === `LIVEHOUSE_${each}`) ?? name, names)
  return unknown.map((name) => `${name} is not a setting${hint(name)}`)
}
