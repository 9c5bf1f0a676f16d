import { parseWallTime, type WallTime } from '../core/wall-clock.ts'
import { type Refusal, refusals } from './answer.ts'

/** Parameters by name, from a JSON body or, as text, from a query string. */
export type Params = Readonly<Record<string, unknown>>

/** A query of a list endpoint. Faults may serve another page than the one that the answer echoes. */
export interface ListQuery {
  readonly page: number
  readonly pageSize: number
  readonly echoPage: number
  readonly echoPageSize: number
  readonly from?: WallTime | undefined
  readonly to?: WallTime | undefined
  /** Whether to leave out those who did not watch (4.5, 4.6), or watched for less than a minute (4.7). */
  readonly isFiltered?: boolean
  /** Filters that only some endpoints have. */
  readonly filters?: Readonly<Record<string, string | undefined>>
}

const REQUEST_TIME = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/

/** Creates a reader of parameters, which takes numbers as text too. `refusal`: the first error, if there is one. */
export function createParamReader(params: Params) {
  let refusal: Refusal | undefined
  const refuse = (next: Refusal) => {
    refusal ??= next
  }
  /** Undefined for a parameter that is missing, or that `read` cannot read, which is an error. */
  const readWith = <Value>(name: string, read: (value: unknown) => Value | undefined): Value | undefined => {
    const raw = params[name] ?? undefined
    const value = raw === undefined ? undefined : read(raw)
    if (raw !== undefined && value === undefined) refuse(refusals.invalid(name))
    return value
  }
  const text = (name: string) => readWith(name, textOf)
  return {
    get refusal(): Refusal | undefined {
      return refusal
    },
    refuse,
    text,
    requiredText: (name: string): string => {
      const value = text(name) ?? ''
      if (value === '') refuse(refusals.missing(name))
      return value
    },
    /** A whole number of at least 1. */
    count: (name: string) =>
      readWith(name, (value) => {
        const number = /^\d{1,15}$/.test(textOf(value) ?? '') ? Number(value) : value
        return typeof number === 'number' && Number.isInteger(number) && number >= 1 ? number : undefined
      }),
    /** `YYYY-MM-DD HH:MM:SS`. */
    time: (name: string) =>
      readWith(name, (value) => (REQUEST_TIME.test(textOf(value) ?? '') ? parseWallTime(String(value)) : undefined)),
    /** `0` or `1`, as number or text. */
    flag: (name: string, fallback: boolean) =>
      readWith(name, (value) => (flags.has(value) ? Number(value) === 1 : undefined)) ?? fallback,
    choice: (name: string, choices: readonly string[]) =>
      readWith(name, (value) => choices.find((choice) => choice === value)),
  }
}

export type ParamReader = ReturnType<typeof createParamReader>

const flags: ReadonlySet<unknown> = new Set([0, '0', 1, '1'])

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
