import type { Clock } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import type { CallContext, MeasuredCall, OnCall } from '../core/page.ts'
import { isObject, withoutPhones } from '../core/text.ts'
import { answerError, badBodyError, redirectError, unparsedBodyError } from './failure.ts'
import { headerOf, type RawAnswer } from './http.ts'
import type { Answer, Call, Redact, Send } from './send.ts'

/** A call made with the bearer token, and its answer, whatever its status. */
export interface Exchange {
  /** Without its token. */
  readonly call: Omit<Call, 'bearer'>
  readonly answer: RawAnswer
  /** From the request to the last byte of the answer. */
  readonly elapsedMs: number
}

export interface AnswerOptions {
  readonly clock: Clock
  /** The service's clock, to turn a date in `Retry-After` into a duration. */
  readonly serviceClock: Clock
  readonly redact: Redact
  /** Aborted when the connections close: calls that fail because of it are not retried. */
  readonly closed: AbortSignal
  /** Receives each answered call unredacted, personal data included; not those of 4.1 and 4.2, which carry secrets. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined
  /** Receives every attempt except one that the caller's signal ended, which says nothing about the service. */
  readonly onCall?: OnCall | undefined
}

/** The innermost `Send`: returns the JSON of an answer, or throws the failure that it reports. */
export function readAnswers(
  exchange: (call: Call, context: CallContext) => Promise<RawAnswer>,
  { clock, serviceClock, redact, closed, onExchange, onCall }: AnswerOptions,
): Send {
  return async (call, context) => {
    closed.throwIfAborted()
    const startedAt = clock.now()
    const report = (outcome: MeasuredCall['outcome']): void =>
      onCall?.({ endpoint: call.endpoint, outcome, elapsedMs: clock.now() - startedAt })
    try {
      const raw = await exchange(call, context)
      const { bearer: _, ...callWithoutToken } = call
      if (call.authorization === 'bearer')
        onExchange?.({ call: callWithoutToken, answer: raw, elapsedMs: clock.now() - startedAt })
      const answer = readAnswer(call, raw, serviceClock, redact)
      report('ok')
      return answer
    } catch (error) {
      if (!context.signal.aborted) report(error instanceof LivehouseError ? error.code : 'internal')
      closed.throwIfAborted()
      throw error
    }
  }
}

/**
 * Recognises each kind of failure: `errcode` other than 1000, `{"errors": {code, message}}` at any status,
 * `{"status": "n", "msg"}`, redirects and HTTP statuses. @throws the error that an answer reports
 */
export function readAnswer(call: Call, raw: RawAnswer, clock: Clock, redact: Redact): Answer {
  const excess = findExcess(raw.text)
  if (excess !== undefined) throw unparsedBodyError(call, raw, excess)
  const json = parse(raw.text)
  if (raw.status >= 300 && raw.status < 400) throw redirectError(call, raw, redact)
  const failure = bodyFailure(json, redact)
  if (failure || raw.status < 200 || raw.status >= 300)
    throw answerError({ call, raw, code: failure?.code, serviceMessage: quote(failure?.text, redact), clock })
  if (json === undefined || raw.garbled !== undefined) throw badBodyError(call, raw)
  const servedAtMs = Date.parse(headerOf(raw, 'date') ?? '')
  return { json, serviceTimeMs: Number.isNaN(servedAtMs) ? undefined : servedAtMs }
}

/** @returns undefined if the text is not JSON */
function parse(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    // The parser's own message quotes the body, which may hold a token or a person's data.
    return undefined
  }
}

const MAX_QUOTE_LENGTH = 200
const MAX_CODE_LENGTH = 40

/** Makes the service's text safe to show: secrets, phones and queries blanked, one line, at most 200 characters. */
function quote(text: unknown, redact: Redact): string {
  if (typeof text !== 'string') return ''
  const line = withoutPhones(redact(text))
    .replace(/\?[^\s"'<>?]*=[^\s"'<>]*/g, '?…')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line.length > MAX_QUOTE_LENGTH ? `${line.slice(0, MAX_QUOTE_LENGTH)}…` : line
}

function bodyFailure(json: unknown, redact: Redact) {
  if (!isObject(json)) return undefined
  const { errors, errcode, status } = json
  if (isObject(errors)) return { code: readCode(errors.code, redact) ?? 'errors', text: errors.message ?? errors.msg }
  if (typeof errors === 'string' && errors !== '') return { code: 'errors', text: errors }
  if (errcode !== undefined && errcode !== null && readCode(errcode, redact) !== 1000)
    return { code: readCode(errcode, redact) ?? 'errcode', text: json.msg ?? json.message }
  if (status === 'n') return { code: readCode(json.flag, redact) ?? 'n', text: json.msg }
  return undefined
}

/** Reads a code, which comes as a number or as numeric text; any other text is redacted and shortened. */
function readCode(code: unknown, redact: Redact): number | string | undefined {
  if (typeof code === 'number') return code
  if (typeof code !== 'string' && typeof code !== 'bigint') return undefined
  const text = String(code).trim()
  return /^-?\d{1,15}$/.test(text) ? Number(text) : quote(text, redact).slice(0, MAX_CODE_LENGTH)
}

/** Matches a number that a double may not hold (IEEE 754): 16 digits or dots, or an exponent of three digits. */
const MAY_LOSE_DIGITS = /(?:^|[:,[\s-])(?:[\d.]{16}|[\d.]+[eE][+-]?\d{3})/
/** More characters than any column holds. A longer number stays text: parsing a million digits takes minutes. */
const MAX_NUMBER_LENGTH = 100

/** In characters, four times a page of 100 visitors. A smaller body is parsed unchecked if it has few brackets. */
const LARGE_BODY = 1 << 18
/** A page of 50 signups with 200 answers each holds 10,000. */
const MAX_VALUES = 200_000
/** At a few thousand levels recursion overflows the stack, and Postgres refuses the `jsonb`. */
const MAX_DEPTH = 200

/**
 * Parses JSON without losing digits: integers beyond 2^53 become `bigint`, decimals that a double would change and
 * numbers of over 100 characters become their source text. The slower parser runs only if the text may hold one.
 * @throws SyntaxError whose message quotes the text: never pass it on.
 */
export function parseExact(text: string): unknown {
  return MAY_LOSE_DIGITS.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text)
}

/**
 * Says why a body must not be parsed: millions of values take seconds and gigabytes, deep ones overflow the stack.
 * @returns undefined for a body of up to 200,000 values and 200 levels
 */
function findExcess(text: string): string | undefined {
  // So few brackets cannot nest too deep, and counting them is quicker than reading every character.
  if (text.length < LARGE_BODY && countIn(text, '{') + countIn(text, '[') <= MAX_DEPTH) return undefined
  let values = 0
  let depth = 0
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index]
    if (char === '"') index = endOfString(text, index)
    else if (char === '[' || char === '{') depth += 1
    else if (char === ']' || char === '}') depth -= 1
    if (char === ',' || char === '[' || char === '{') values += 1
    if (values > MAX_VALUES) return `it holds more than ${MAX_VALUES} values`
    if (depth > MAX_DEPTH) return `its values are nested deeper than ${MAX_DEPTH} levels`
  }
  return undefined
}

function countIn(text: string, char: string): number {
  let count = 0
  for (let index = text.indexOf(char); index >= 0; index = text.indexOf(char, index + 1)) count += 1
  return count
}

/** @returns the index of the quote that ends the string begun at `start`, or at least the text's length if none does */
function endOfString(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  return end
}

/** A reviver for JSON.parse; TypeScript lacks its third parameter (ECMAScript, JSON.parse source text access). */
function exactNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined) return value
  if (source.length > MAX_NUMBER_LENGTH) return source
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value) ? value : BigInt(source)
  return isExact(value, source) ? value : source
}

/** Whether the double equals its source: 15 significant digits always survive (IEEE 754). */
function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false
  const [mantissa = ''] = source.split(/[eE]/)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '')
  if (value === 0) return digits === ''
  return digits.length <= 15 || String(value) === source
}
