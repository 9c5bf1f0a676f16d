import { LivehouseError } from '../core/errors.ts'
import { withoutPhones } from '../core/text.ts'
import { headerOf, type RawAnswer } from './http.ts'
import type { Call, Secrets } from './send.ts'

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
  secrets: Secrets,
  retryAfterMs: number | undefined,
): LivehouseError | undefined {
  const isSuccess = raw.status >= 200 && raw.status < 300
  if (raw.status >= 300 && raw.status < 400) return redirect(call, raw, secrets)
  const found = bodyFailure(json, secrets)
  if (!found && isSuccess) return undefined
  const status = statusOf(found?.code) ?? (isSuccess ? undefined : raw.status)
  return judge({ call, status, code: found?.code, said: quote(found?.text, secrets), retryAfterMs })
}

/** A service's text as it may be shown: known secrets and queries blanked, one line, at most 200 characters. */
export function quote(text: unknown, secrets: Secrets): string {
  if (typeof text !== 'string') return ''
  const line = withoutPhones(secrets.redact(text))
    .replace(/\?[^\s"'<>?]*=[^\s"'<>]*/g, '?…')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line.length > QUOTE_LENGTH ? `${line.slice(0, QUOTE_LENGTH)}…` : line
}

function bodyFailure(
  json: unknown,
  secrets: Secrets,
): { readonly code: number | string; readonly text: unknown } | undefined {
  if (!isRecord(json)) return undefined
  const { errors, errcode, status } = json
  if (isRecord(errors)) return { code: readCode(errors.code, secrets) ?? 'errors', text: errors.message ?? errors.msg }
  if (typeof errors === 'string' && errors !== '') return { code: 'errors', text: errors }
  if (errcode !== undefined && errcode !== null && readCode(errcode, secrets) !== 1000) {
    return { code: readCode(errcode, secrets) ?? 'errcode', text: json.msg ?? json.message }
  }
  if (status === 'n') return { code: readCode(json.flag, secrets) ?? 'n', text: json.msg }
  return undefined
}

function judge({ call, status, code, said, retryAfterMs }: Report): LivehouseError {
  const { name, channelId } = call
  const words = said === '' ? '' : ` "${said}"`
  const reason = `${code === undefined ? '' : `code ${code}`}${words}`.trim()
  const shown = reason === '' ? '' : ` (${reason})`
  const details = { call: name, reason, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
  if (channelId !== undefined && (code === 404002 || channelIsUnknown.some((words) => words.test(said)))) {
    const message = `${name}: the service does not know this channel${shown}`
    return new LivehouseError('api.channelUnknown', message, { ...details, channelId })
  }
  if (status === undefined) {
    const refusal = code ?? 'unknown'
    const message = `${name}: the service refuses with code ${refusal}${words}`
    return new LivehouseError('api.refused', message, { call: name, code: refusal, reason: said })
  }
  const message = `${name}: ${status}${shown}`
  if (status === 401) return new LivehouseError('api.unauthorized', message, details)
  if (status === 403) return new LivehouseError('api.forbidden', message, details)
  if (status === 429) return new LivehouseError('api.rateLimited', message, details)
  return new LivehouseError('api.status', message, { ...details, status, ...(code === undefined ? {} : { code }) })
}

function redirect(call: Call, raw: RawAnswer, secrets: Secrets): LivehouseError {
  const why = 'livehouse does not follow, because the bearer token would go there too'
  const repair = 'set the address of the service to where it lives now'
  const reason = `the service redirects to ${targetOf(raw, secrets)}; ${why}: ${repair}`
  const details = { call: call.name, status: raw.status, reason }
  return new LivehouseError('api.status', `${call.name}: ${raw.status}: ${reason}`, details)
}

/** Scheme and host only: a query may hold what was sent. */
function targetOf(raw: RawAnswer, secrets: Secrets): string {
  const url = URL.parse(headerOf(raw, 'location') ?? '')
  return url === null ? 'another path' : secrets.redact(url.origin)
}

/** The documented codes begin with the HTTP status that they stand for (401001, 429001). */
function statusOf(code: number | string | undefined): number | undefined {
  if (typeof code !== 'number') return undefined
  const status = code >= 100_000 && code <= 999_999 ? Math.floor(code / 1000) : code
  return status >= 400 && status <= 599 ? status : undefined
}

/** A code may come as a number or as numeric text; other text is quoted, shortened. */
function readCode(code: unknown, secrets: Secrets): number | string | undefined {
  if (typeof code === 'number') return code
  if (typeof code !== 'string' && typeof code !== 'bigint') return undefined
  const text = String(code).trim()
  return /^-?\d{1,15}$/.test(text) ? Number(text) : quote(text, secrets).slice(0, LONGEST_CODE)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
