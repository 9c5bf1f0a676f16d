import type { Clock } from '../core/clock.ts'
import { type ErrorCode, LivehouseError } from '../core/errors.ts'
import type { Endpoint, Send } from './send.ts'

/** One attempt of a call, without anything of what was asked or answered. */
export interface MeasuredCall {
  readonly endpoint: Endpoint
  /** `ok`, or what became of it: `api.rateLimited`, `api.timeout` … */
  readonly outcome: 'ok' | ErrorCode | 'internal'
  readonly elapsedMs: number
}

/** Never throws and never waits. */
export type OnCall = (call: MeasuredCall) => void

/** Tells of every attempt that goes over the wire, repeated ones too. One that a signal ended tells nothing of the service. */
export function measure(next: Send, clock: Clock, onCall: OnCall | undefined): Send {
  if (onCall === undefined) return next
  return async (call, context) => {
    const startedAt = clock.now()
    const tell = (outcome: MeasuredCall['outcome']): void =>
      onCall({ endpoint: call.endpoint, outcome, elapsedMs: clock.now() - startedAt })
    try {
      const answer = await next(call, context)
      tell('ok')
      return answer
    } catch (error) {
      if (!context.signal.aborted) tell(error instanceof LivehouseError ? error.code : 'internal')
      throw error
    }
  }
}
