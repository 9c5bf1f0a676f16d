import type { Clock } from '../core/clock.ts'
import { type ErrorCode, LivehouseError } from '../core/errors.ts'
import type { CallContext } from '../core/page.ts'
import { isObject, withoutPhones } from '../core/text.ts'
import { headerOf, type RawAnswer } from './http.ts'
import { findExcess, parseExact } from './json.ts'
import type { Answer, Call, Redact, Send } from './send.ts'

/** A call with the bearer token as it went out, and what came back, whatever it was. */
export interface Exchange {
  /** Without its token. */
  readonly call: Omit<Call, 'bearer'>
  readonly answer: RawAnswer
  /** From the request to the last byte of the answer. */
  readonly elapsedMs: number
}

/** One attempt of a call, without anything of what was asked or answered. */
export interface MeasuredCall {
  readonly endpoint: string
  /** `ok`, or its error: `api.rateLimited`, `api.timeout` … */
  readonly outcome: 'ok' | ErrorCode | 'internal'
  readonly elapsedMs: number
}

/** Never throws and never waits. */
export type OnCall = (call: MeasuredCall) => void

interface AnswerOptions {
  readonly clock: Clock
  /** Turns dates of the service into durations. */
  readonly serviceClock: Clock
  readonly redact: Redact
  /** What fails because the connections have been closed is not repeated. */
  readonly closed: AbortSignal
  /** Receives every answered call, repeated ones too, but those of 4.1 and 4.2, which carry secrets. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined
  /** Receives every attempt, repeated ones too; one that a signal ended says nothing of the service and is left out. */
  readonly onCall?: OnCall | undefined
}

/** Turns what came over the wire into JSON that reports no failure: the innermost `Send`. */
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
      const { bearer: _, ...shown } = call
      if (call.authorization === 'bearer')
        onExchange?.({ call: shown, answer: raw, elapsedMs: clock.now() - startedAt })
      const answer = judge(call, raw, serviceClock, redact)
      report('ok')
      return answer
    } catch (error) {
      if (!context.signal.aborted) report(error instanceof LivehouseError ? error.code : 'internal')
      closed.throwIfAborted()
      throw error
    }
  }
}

function judge(call: Call, raw: RawAnswer, serviceClock: Clock, redact: Redact): Answer {
  const excess = findExcess(raw.text)
  if (excess !== undefined) throw refused(call, raw, excess)
  const json = parse(raw.text)
  const failure = failureOf(call, raw, json, redact, retryAfterMs(headerOf(raw, 'retry-after'), serviceClock))
  if (failure) throw failure
  if (json === notJson || raw.garbled !== undefined) throw badBody(call, raw)
  return { json, serviceTimeMs: instantOf(headerOf(raw, 'date')) }
}

const notJson: unique symbol = Symbol('not JSON')

function parse(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    // The parser's own message quotes the body, which may hold a token or a person's data.
    return notJson
  }
}

function badBody(call: Call, raw: RawAnswer): LivehouseError {
  const reason = describeBody(raw)
  return new LivehouseError('api.badBody', `${call.name}: ${raw.status} with ${reason}`, { call: call.name, reason })
}

function refused({ name }: Call, { status, text }: RawAnswer, excess: string): LivehouseError {
  const reason = `a body of ${text.length} characters that is not read: ${excess}`
  return new LivehouseError('api.bodyRefused', `${name}: ${status} with ${reason}`, { call: name, reason })
}

function describeBody(raw: RawAnswer): string {
  const { text, garbled } = raw
  const body = text.trim()
  if (body === '') return 'an empty body'
  const size = `${text.length} characters`
  if (body.startsWith('<') || /html/i.test(headerOf(raw, 'content-type') ?? ''))
    return `an HTML page of ${size} in place of JSON`
  if (garbled !== undefined) return garbled
  return /^[[{"]/.test(body) ? `JSON that is cut or damaged (${size})` : `text of ${size} in place of JSON`
}

/** A service that asks for more patience than this is asked again all the same. */
const LONGEST_RETRY_AFTER_MS = 60_000

/** `Retry-After` is seconds or an HTTP date (RFC 9110, 10.2.3). */
function retryAfterMs(header: string | undefined, clock: Clock): number | undefined {
  if (header === undefined) return undefined
  const isSeconds = /^\s*\d+\s*$/.test(header)
  const askedMs = isSeconds ? Number(header) * 1000 : Date.parse(header) - clock.now()
  return Number.isNaN(askedMs) ? undefined : Math.max(0, askedMs)
}

function instantOf(header: string | undefined): number | undefined {
  const instant = Date.parse(header ?? '')
  return Number.isNaN(instant) ? undefined : instant
}

/** No longer than this is quoted of what the service says. */
const QUOTE_LENGTH = 200
const LONGEST_CODE = 40
/** What `msg` says where the codes are not documented: that the channel is not there. */
const channelIsUnknown = [
  /no such (activity|channel)|(activity|channel)( id)?( is| does)?( not|n't) (exist|found)/i,
  /(频道|活动)[^,，。]{0,8}不存在|不存在[^,，。]{0,4}(频道|活动)/,
]

/** What a failed answer tells, collected from body and status before it is judged. */
interface Report {
  readonly call: Call
  /** The HTTP status, or the one that the body's code begins with. */
  readonly status: number | undefined
  /** Of the body. */
  readonly code: number | string | undefined
  /** The service's own words, redacted and shortened; empty without any. */
  readonly said: string
  readonly retryAfterMs: number | undefined
}

/**
 * Tells the families of failures apart: `errcode` other than 1000, `{"errors": {code, message}}` at any status,
 * `{"status": "n", "msg"}`, redirects and HTTP statuses.
 * @returns the error, or undefined for an answer that reports none.
 */
export function failureOf(
  call: Call,
  raw: RawAnswer,
  json: unknown,
  redact: Redact,
  retryAfterMs: number | undefined,
): LivehouseError | undefined {
  const isSuccess = raw.status >= 200 && raw.status < 300
  if (raw.status >= 300 && raw.status < 400) return redirect(call, raw, redact)
  const found = bodyFailure(json, redact)
  if (!found && isSuccess) return undefined
  const status = statusOf(found?.code) ?? (isSuccess ? undefined : raw.status)
  return errorOf({ call, status, code: found?.code, said: quote(found?.text, redact), retryAfterMs })
}

/** A service's text as it may be shown: known secrets and queries blanked, one line, at most 200 characters. */
function quote(text: unknown, redact: Redact): string {
  if (typeof text !== 'string') return ''
  const line = withoutPhones(redact(text))
    .replace(/\?[^\s"'<>?]*=[^\s"'<>]*/g, '?…')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line.length > QUOTE_LENGTH ? `${line.slice(0, QUOTE_LENGTH)}…` : line
}

function bodyFailure(
  json: unknown,
  redact: Redact,
): { readonly code: number | string; readonly text: unknown } | undefined {
  if (!isObject(json)) return undefined
  const { errors, errcode, status } = json
  if (isObject(errors)) return { code: readCode(errors.code, redact) ?? 'errors', text: errors.message ?? errors.msg }
  if (typeof errors === 'string' && errors !== '') return { code: 'errors', text: errors }
  if (errcode !== undefined && errcode !== null && readCode(errcode, redact) !== 1000) {
    return { code: readCode(errcode, redact) ?? 'errcode', text: json.msg ?? json.message }
  }
  if (status === 'n') return { code: readCode(json.flag, redact) ?? 'n', text: json.msg }
  return undefined
}

function errorOf({ call, status, code, said, retryAfterMs }: Report): LivehouseError {
  const { name, channelId } = call
  const words = said === '' ? '' : ` ${JSON.stringify(said)}`
  const reason = `${code === undefined ? '' : `code ${code}`}${words}`.trim()
  const shown = reason === '' ? '' : ` (${reason})`
  const waitMs = retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)
  const details = { call: name, reason, ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }) }
  if (channelId !== undefined && (code === 404002 || channelIsUnknown.some((words) => words.test(said)))) {
    const message = `${name}: the service does not know this channel${shown}`
    return new LivehouseError('api.channelUnknown', message, { ...details, channelId })
  }
  if (status === undefined) {
    const refusal = code ?? 'unknown'
    const message = `${name}: the service refuses with code ${refusal}${words}`
    return new LivehouseError('api.refused', message, { call: name, code: refusal, reason: said })
  }
  const later = retryAfterMs ? `; the service asks to wait ${Math.ceil(retryAfterMs / 1000)} s` : ''
  const message = `${name}: ${status}${shown}${later}`
  if (status === 401) return new LivehouseError('api.unauthorized', message, details)
  if (status === 403) return new LivehouseError('api.forbidden', message, details)
  if (status === 429) return new LivehouseError('api.rateLimited', message, details)
  return new LivehouseError('api.status', message, { ...details, status, ...(code === undefined ? {} : { code }) })
}

function redirect(call: Call, raw: RawAnswer, redact: Redact): LivehouseError {
  const why = 'livehouse does not follow, because the bearer token would go there too'
  const repair = 'set the address of the service to where it lives now'
  const reason = `the service redirects to ${targetOf(raw, redact)}; ${why}: ${repair}`
  const details = { call: call.name, status: raw.status, reason }
  return new LivehouseError('api.status', `${call.name}: ${raw.status}: ${reason}`, details)
}

/** Scheme and host only: a query may hold what was sent. */
function targetOf(raw: RawAnswer, redact: Redact): string {
  const url = URL.parse(headerOf(raw, 'location') ?? '')
  return url === null ? 'another path' : redact(url.origin)
}

/** The documented codes begin with the HTTP status that they stand for (401001, 429001). */
function statusOf(code: number | string | undefined): number | undefined {
  if (typeof code !== 'number') return undefined
  const status = code >= 100_000 && code <= 999_999 ? Math.floor(code / 1000) : code
  return status >= 400 && status <= 599 ? status : undefined
}

/** A code may come as a number or as numeric text; other text is quoted, shortened. */
function readCode(code: unknown, redact: Redact): number | string | undefined {
  if (typeof code === 'number') return code
  if (typeof code !== 'string' && typeof code !== 'bigint') return undefined
  const text = String(code).trim()
  return /^-?\d{1,15}$/.test(text) ? Number(text) : quote(text, redact).slice(0, LONGEST_CODE)
}
