import type { Clock } from '../core/clock.ts'
import type { CallContext } from '../core/page.ts'
import type { RawAnswer } from './http.ts'
import type { Call } from './send.ts'

/** A call with the bearer token as it went out, and what came back, whatever it was. */
export interface Exchange {
  /** Without its token. */
  readonly call: Omit<Call, 'bearer'>
  readonly answer: RawAnswer
  /** From the request to the last byte of the answer. */
  readonly elapsedMs: number
}

/** Shows every answered call to `onExchange`, repeated ones too; those of 4.1 and 4.2, which carry secrets, are not shown. */
export function observe(
  next: (call: Call, context: CallContext) => Promise<RawAnswer>,
  clock: Clock,
  onExchange: ((exchange: Exchange) => void) | undefined,
): (call: Call, context: CallContext) => Promise<RawAnswer> {
  if (onExchange === undefined) return next
  return async (call, context) => {
    if (call.authorization !== 'bearer') return await next(call, context)
    const startedAt = clock.now()
    const answer = await next(call, context)
    const { bearer: _, ...shown } = call
    onExchange({ call: shown, answer, elapsedMs: clock.now() - startedAt })
    return answer
  }
}
