import type { Clock } from '../core/clock.ts'
import { type ErrorCode, LivehouseError } from '../core/errors.ts'
import type { CallContext } from '../core/page.ts'
import { failureOf } from './failure.ts'
import { headerOf, type RawAnswer } from './http.ts'
import { findExcess, parseExact } from './json.ts'
import type { Answer, Call, Secrets, Send } from './send.ts'

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
  readonly secrets: Secrets
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
  { clock, serviceClock, secrets, closed, onExchange, onCall }: AnswerOptions,
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
      const answer = judge(call, raw, serviceClock, secrets)
      report('ok')
      return answer
    } catch (error) {
      if (!context.signal.aborted) report(error instanceof LivehouseError ? error.code : 'internal')
      closed.throwIfAborted()
      throw error
    }
  }
}

function judge(call: Call, raw: RawAnswer, serviceClock: Clock, secrets: Secrets): Answer {
  const excess = findExcess(raw.text)
  if (excess !== undefined) throw refused(call, raw, excess)
  const json = parse(raw.text)
  const failure = failureOf(call, raw, json, secrets, retryAfterMs(headerOf(raw, 'retry-after'), serviceClock))
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
  return Number.isNaN(askedMs) ? undefined : Math.min(Math.max(0, askedMs), LONGEST_RETRY_AFTER_MS)
}

function instantOf(header: string | undefined): number | undefined {
  const instant = Date.parse(header ?? '')
  return Number.isNaN(instant) ? undefined : instant
}
