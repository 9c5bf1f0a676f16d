import type { CallContext } from '../core/page.ts'

/** One call to the service as data: what to ask, how to authorise it, and whether it may be made again. */
export interface Call {
  /** The name that messages, logs and metrics use; 4.3 and 4.4 share a path. */
  readonly endpoint: string
  /** `POST LIST channel 9 page 3`: how messages and logs name it. Never holds a query, which may carry secrets. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Which of the two configured addresses the path belongs to. */
  readonly host: 'base' | 'auth'
  readonly path: string
  /** Undefined values are left out, as in a body. */
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: Readonly<Record<string, unknown>>
  /** The channel that it is about; undefined for calls of the whole account. */
  readonly channelId?: string
  /** `query` is 4.2, whose app id and token travel as parameters; `none` is 4.1. */
  readonly authorization: 'bearer' | 'query' | 'none'
  /**
   * When a failed call is repeated. `token`: 4.1, on which all others wait: after failures of transport or service, a
   * 429 too, with longer waits. `read`: after failures of transport or service, and after an unknown errcode;
   * `idempotent`: only after the former; `once`: at most once (4.6, ten calls a day); `never`: 4.2 and 4.3, where each
   * call has an effect.
   */
  readonly repeat: 'token' | 'read' | 'idempotent' | 'once' | 'never'
  /** Whether it counts as one of the few that the service allows a day. */
  readonly isBudgeted?: boolean
  /** Set by the token layer. */
  readonly bearer?: string
}

/** Blanks known secrets in a text, as the log does: a service may repeat them in its errors. */
export type Redact = (text: string) => string

/** A well-formed answer that reports no failure. */
export interface Answer {
  readonly json: unknown
  /** The `Date` header in milliseconds since 1970. */
  readonly serviceTimeMs: number | undefined
}

/**
 * Makes one call. Each layer of the client (retry, pace, budget, token) is a function from `Send` to `Send`.
 * @throws LivehouseError with an `api.…` code, or the signal's reason.
 */
export type Send = (call: Call, context: CallContext) => Promise<Answer>
