import type { Clock } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import { addressSetting, headerOf, type RawAnswer } from './http.ts'
import type { Call, Redact } from './send.ts'

/** Wordings of a message that says that a channel does not exist, as services use codes other than 404002 too. */
const unknownChannelTexts = [
  /no such (activity|channel)|(activity|channel)( id)?( is| does)?( not|n't) (exist|found)/i,
  /(频道|活动)[^,，。]{0,8}不存在|不存在[^,，。]{0,4}(频道|活动)/,
]
/** Wordings of a message that refuses an access token, under an undocumented code, a 400 or a 403. */
const refusedTokenTexts = [
  /\b(invalid|expired|illegal)[ _](access[_ ]?)?token\b/i,
  /\b(access[_ ]?)?token( has| is)?[ _](invalid|expired|illegal)\b/i,
  /token ?(无效|不合法|错误|已?过期|已经过期|已?失效)|(无效|过期|失效)的 ?(access_)?token/i,
]

/** A failed answer, and the failure that its body reports. */
interface Report {
  readonly call: Call
  readonly raw: RawAnswer
  /** The error code in the body. */
  readonly code: number | string | undefined
  /** The service's own message, redacted and shortened; empty if there is none. */
  readonly serviceMessage: string
  /** The service's clock, to turn a date in `Retry-After` into a duration. */
  readonly clock: Clock
}

/** The error for a failed answer, by the code in its body or, without one, by its status. */
export function answerError({ call, raw, code, serviceMessage, clock }: Report): LivehouseError {
  const { name, channelId } = call
  const status = statusOf(code) ?? (raw.status >= 200 && raw.status < 300 ? undefined : raw.status)
  const retryAfterMs = readRetryAfter(headerOf(raw, 'retry-after'), clock)
  const isWebPage = raw.text.trimStart().startsWith('<')
  const quoted = serviceMessage === '' ? '' : ` ${JSON.stringify(serviceMessage)}`
  const reason = isWebPage ? describeBody(raw) : `${code === undefined ? '' : `code ${code}`}${quoted}`.trim()
  const suffix = reason === '' ? '' : ` (${reason})`
  const details = { call: name, retryAfterMs: retryAfterMs && Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) }
  if (channelId !== undefined && (code === 404002 || unknownChannelTexts.some((words) => words.test(serviceMessage)))) {
    const message = `${name}: the service does not know this channel${suffix}`
    return new LivehouseError('api.channelUnknown', message, details)
  }
  const mayBeToken = call.authorization === 'bearer' && (status === undefined || status === 400 || status === 403)
  if (mayBeToken && refusedTokenTexts.some((words) => words.test(serviceMessage)))
    return new LivehouseError('api.unauthorized', `${name}: the service refuses the token${suffix}`, details)
  if (status === undefined) {
    const refusal = code ?? 'unknown'
    const message = `${name}: the service refuses with code ${refusal}${quoted}`
    return new LivehouseError('api.refused', message, { call: name, code: refusal, reason: serviceMessage })
  }
  const advice = retryAfterMs ? `; the service asks to wait ${Math.ceil(retryAfterMs / 1000)} s` : ''
  const message = `${name}: ${status}${suffix}${advice}`
  if (status === 401) return new LivehouseError('api.unauthorized', message, details)
  if (status === 403 && !isWebPage) return new LivehouseError('api.forbidden', message, details)
  if (status === 429) return new LivehouseError('api.rateLimited', message, details)
  return new LivehouseError('api.status', message, { ...details, status, code, reason, isWebPage })
}

/** The error for a redirect. */
export function redirectError(call: Call, raw: RawAnswer, redact: Redact): LivehouseError {
  const advice = `livehouse does not follow, as the token would go too; set ${addressSetting(call)} to the new address`
  // Scheme and host only: the query may repeat secrets of the request.
  const url = URL.parse(headerOf(raw, 'location') ?? '')
  const reason = `the service redirects to ${url === null ? 'another path' : redact(url.origin)}; ${advice}`
  const details = { call: call.name, status: raw.status, reason }
  return new LivehouseError('api.status', `${call.name}: ${raw.status}: ${reason}`, details)
}

/** The HTTP status of a code: documented codes begin with it (401001, 429001). */
function statusOf(code: number | string | undefined): number | undefined {
  if (typeof code !== 'number') return undefined
  const status = code >= 100_000 && code <= 999_999 ? Math.floor(code / 1000) : code
  return status >= 400 && status <= 599 ? status : undefined
}

/** The cap on `Retry-After`: no call waits longer. */
export const MAX_RETRY_AFTER_MS = 60_000

/** Reads `Retry-After`, seconds or an HTTP date (RFC 9110, 10.2.3), as milliseconds. */
function readRetryAfter(header: string | undefined, clock: Clock): number | undefined {
  if (header === undefined) return undefined
  const askedMs = /^\s*\d+\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - clock.now()
  return Number.isNaN(askedMs) ? undefined : Math.max(0, askedMs)
}

/** The error for a body that is not JSON. */
export function badBodyError(call: Call, raw: RawAnswer): LivehouseError {
  return new LivehouseError('api.badBody', `${call.name}: ${raw.status} with ${describeBody(raw)}`, { call: call.name })
}

/** The error for a body that is too large or too deep to parse. @param excess which of the two, and the limit */
export function unparsedBodyError({ name }: Call, { status, text }: RawAnswer, excess: string): LivehouseError {
  const reason = `a body of ${text.length} characters that is not parsed: ${excess}`
  return new LivehouseError('api.bodyRefused', `${name}: ${status} with ${reason}`, { call: name })
}

function describeBody(raw: RawAnswer): string {
  const { text, garbled } = raw
  const body = text.trim()
  if (body === '') return 'an empty body'
  const size = `${text.length} characters`
  if (body.startsWith('<') || /html/i.test(headerOf(raw, 'content-type') ?? ''))
    return `an HTML page of ${size} instead of JSON`
  if (garbled !== undefined) return garbled
  return /^[[{"]/.test(body) ? `JSON that is cut off or damaged (${size})` : `text of ${size} instead of JSON`
}
