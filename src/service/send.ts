import type { CallContext } from '../core/page.ts'

/** One call to the service as data: what to request, how to authorise it, and whether to retry it. */
export interface Call {
  /** Names the endpoint for the pace and the metrics; its path would not do, as 4.3 and 4.4 share one. */
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
  /** The channel that the call is about; undefined for calls about the whole account. */
  readonly channelId?: string
  /** `query` is 4.2, whose app id and token travel as parameters; `none` is 4.1. */
  readonly authorization: 'bearer' | 'query' | 'none'
  /**
   * When to retry a failed call. `read`: after failures of transport or service, and after an unknown errcode.
   * `idempotent`: not after an errcode. `once`: like `idempotent`, a single time (4.6, ten calls a day). `never`: 4.2
   * and 4.3, where each call has an effect. `token`: like `read`, with more attempts and longer waits, as all other
   * calls wait for 4.1; a 429 uses up an attempt.
   */
  readonly retries: 'token' | 'read' | 'idempotent' | 'once' | 'never'
  /** Whether the call counts towards the few that the service allows a day. */
  readonly isBudgeted?: boolean
  /** Set by the token layer. */
  readonly bearer?: string
}

/** Blanks known secrets in a text, as the log does: a service may quote them in its errors. */
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
