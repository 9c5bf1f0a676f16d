/** An HTTP answer, which faults may change before it is sent. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Body
  readonly delivery: Delivery
}

type Body =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly contentType: string; readonly text: string | Uint8Array }
  | ListBody

/** One page of a list. Its items are built only if the page is not cached. */
export interface ListBody {
  readonly kind: 'list'
  readonly items: () => readonly unknown[]
  readonly total: number
  readonly envelope: (items: readonly unknown[], total: number) => unknown
  /** Everything that the body depends on; undefined for a body that must not be cached. */
  readonly cacheKey: string | undefined
}

export type Delivery =
  | { readonly kind: 'whole' }
  /** Sends the full `content-length` but only this share of the body, then closes the connection. */
  | { readonly kind: 'cut'; readonly share: number }
  | { readonly kind: 'reset' }
  /** Never answers. */
  | { readonly kind: 'hang' }

/** The two forms of an error: `{"errors": {code, message}}` with a matching status, and `{errcode, msg}` (API 7.1). */
export type ErrorFamily = 'errors' | 'errcode'

/** An error of the service. The first three digits of its code are the HTTP status. */
export interface Refusal {
  readonly code: number
  readonly message: string
}

export const refusals = {
  invalid: (what: string): Refusal => ({ code: 400001, message: `Invalid parameters: ${what}` }),
  missing: (what: string): Refusal => ({ code: 400002, message: `Missing parameters: ${what}` }),
  unauthorized: { code: 401001, message: 'Unauthorized user' },
  notFound: (what: string): Refusal => ({ code: 404000, message: `No such ${what}` }),
  noActivity: { code: 404002, message: 'No such activity' },
  noVideo: { code: 404003, message: 'No such video' },
  wrongMethod: { code: 405001, message: 'method not allowed' },
  rateLimited: { code: 429001, message: 'Touch rate limit' },
} as const

/** An answer that is delivered whole. */
export function answerWith(body: Body, status = 200, headers: Answer['headers'] = {}): Answer {
  return { status, headers, body, delivery: { kind: 'whole' } }
}

export function jsonAnswer(value: unknown, status = 200): Answer {
  return answerWith({ kind: 'json', value }, status)
}

/** Makes an error answer. @param errcodeStatus `ok`: errcodes other than 401 and 429 are sent with status 200 */
export function refuse(family: ErrorFamily, { code, message }: Refusal, errcodeStatus: 'ok' | 'matching'): Answer {
  const status = Math.floor(code / 1000)
  if (family === 'errors') return jsonAnswer({ errors: { code, message } }, status)
  const isHidden = errcodeStatus === 'ok' && status !== 401 && status !== 429
  return jsonAnswer({ errcode: code, msg: message }, isHidden ? 200 : status)
}
