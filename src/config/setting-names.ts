import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { didYouMean } from '../core/did-you-mean.ts'
import { packageFolder } from '../core/program-files.ts'

/** What is set as if it were a setting of livehouse and is none, each with the nearest name: mistyped, most often. */
export function describeUnknownSettings(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const given = Object.keys(environment).filter((name) => name.startsWith('LIVEHOUSE_'))
  if (given.length === 0) return []
  const names = settingNames()
  const unknown = given.filter((name) => !names.includes(name.replace(/_FILE$/, '')))
  return unknown.map((name) => `${name} is no setting${didYouMean(name, names)}`)
}

/** Every setting of livehouse's own: `.env.example` has them all. */
function settingNames(): readonly string[] {
  const example = readFileSync(join(packageFolder, '.env.example'), 'utf8')
  return [...new Set(example.match(/\bLIVEHOUSE_[A-Z0-9_]+/g))]
}
