import { parseWallTime, type WallTime } from '../core/wall-clock.ts'
import { refusals, type Refusal } from './answer.ts'

/** Parameters by name: of a JSON body, or texts of a query string. */
export type Params = Readonly<Record<string, unknown>>

/** Reads parameters; numbers as text are taken too. The first that is wrong is kept as the refusal. */
export interface ParamReader {
  readonly refusal: Refusal | undefined
  /** A whole number from 1. */
  readonly count: (name: string) => number | undefined
  /** `YYYY-MM-DD HH:MM:SS`. */
  readonly time: (name: string) => WallTime | undefined
  /** `0` or `1`, as number or text. */
  readonly flag: (name: string, fallback: boolean) => boolean
  readonly text: (name: string) => string | undefined
  readonly requiredText: (name: string) => string
  readonly choice: (name: string, choices: readonly string[]) => string | undefined
  readonly refuse: (refusal: Refusal) => void
}

const REQUEST_TIME = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/

export function createParamReader(params: Params): ParamReader {
  let refusal: Refusal | undefined
  const refuse = (next: Refusal) => {
    refusal ??= next
  }
  const valueOf = (name: string) => params[name] ?? undefined
  const invalid = (name: string) => refuse(refusals.invalid(name))

  const text = (name: string): string | undefined => {
    const value = valueOf(name)
    if (value === undefined || typeof value === 'string') return value
    invalid(name)
    return undefined
  }
  return {
    get refusal() {
      return refusal
    },
    refuse,
    text,
    requiredText: (name) => {
      const value = text(name)
      if (value === undefined || value === '') refuse(refusals.missing(name))
      return value ?? ''
    },
    count: (name) => {
      const value = valueOf(name)
      if (value === undefined) return undefined
      const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
      if (typeof number === 'number' && Number.isInteger(number) && number >= 1) return number
      invalid(name)
      return undefined
    },
    time: (name) => {
      const value = text(name)
      if (value === undefined) return undefined
      const time = REQUEST_TIME.test(value) ? parseWallTime(value) : undefined
      if (time === undefined) invalid(name)
      return time
    },
    flag: (name, fallback) => {
      const value = valueOf(name)
      if (value === undefined) return fallback
      if (value === 0 || value === '0') return false
      if (value === 1 || value === '1') return true
      invalid(name)
      return fallback
    },
    choice: (name, choices) => {
      const value = text(name)
      if (value !== undefined && !choices.includes(value)) invalid(name)
      return value
    },
  }
}
