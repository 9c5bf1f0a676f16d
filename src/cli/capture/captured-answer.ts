import type { Exchange } from '../../api/observe.ts'
import type { Disguise } from './disguise.ts'
import { disguiseBody, parseAsWritten } from './disguise-body.ts'

/** A real answer as it may be shown to others: its file's text. */
export function capturedAnswer({ call, answer, elapsedMs }: Exchange, disguise: Disguise, capturedAt: Date): string {
  const { method, query, body } = call
  const request = { method, path: disguisePath(call, disguise), query, body: body && disguiseRequest(body, disguise) }
  const captured = {
    endpoint: call.endpoint,
    captured_at: capturedAt.toISOString(),
    request,
    answer: { status: answer.status, elapsed_ms: elapsedMs, ...headersOf(answer), ...bodyOf(answer, disguise) },
  }
  return `${JSON.stringify(captured, null, 2)}\n`
}

function disguisePath({ path, channelId }: Exchange['call'], disguise: Disguise): string {
  return channelId === undefined ? path : path.replace(`/${channelId}/`, `/${disguise(channelId)}/`)
}

/** What is sent are pages, times and kinds; only the questionnaire is somebody's. */
function disguiseRequest(
  body: Readonly<Record<string, unknown>>,
  disguise: Disguise,
): Readonly<Record<string, unknown>> {
  const { question_id: questionId } = body
  return typeof questionId === 'string' ? { ...body, question_id: disguise(questionId) } : body
}

const headersOfInterest = /^(content-(type|length|encoding)|transfer-encoding|date|retry-after|server|.*rate-?limit.*)$/

/** Headers that tell of the interface, and of all others the names alone. */
function headersOf({ headers }: Exchange['answer']): object {
  const shown = Object.entries(headers).filter(([name]) => headersOfInterest.test(name))
  const others = Object.keys(headers).filter((name) => !headersOfInterest.test(name))
  return { headers: Object.fromEntries(shown), other_headers: others.sort() }
}

function bodyOf({ text, contentType }: Exchange['answer'], disguise: Disguise): object {
  try {
    return { body: disguiseBody(parseAsWritten(text), disguise) }
  } catch {
    // What cannot be taken apart cannot be disguised.
    return { body_withheld: `no JSON: ${text.length} characters of ${contentType || 'no content type'}` }
  }
}
