import type { Clock } from '../core/clock.ts'
import type { Answer } from './answer.ts'
import type { Conditions } from './conditions.ts'
import type { Credentials } from './credentials.ts'
import type { EndpointName, Source } from './endpoint.ts'
import type { Fault } from './faults.ts'
import type { PageCache } from './http.ts'
import type { Params } from './params.ts'

/** One call as it was answered. */
export interface RecordedCall {
  readonly endpoint: EndpointName | undefined
  readonly channelId: string | undefined
  readonly page: number | undefined
  readonly size: number | undefined
  readonly params: Params
  /** 0 where nothing was answered. */
  readonly status: number
  /** Milliseconds since 1970 by the emulator's clock. */
  readonly at: number
}

/** The state of a running emulator. */
export interface Service extends Source {
  readonly clock: Clock
  readonly appId: string
  readonly tokenSeconds: number
  readonly conditions: Readonly<Conditions>
  readonly credentials: Credentials
  readonly admitsCall: () => boolean
  readonly admitsV1Call: (scope: string) => boolean
  readonly faults: Fault[]
  readonly calls: RecordedCall[]
  readonly cache: PageCache
}

/** An answer and what is to be remembered of its call. */
export interface Outcome {
  readonly answer: Answer
  readonly call: Omit<RecordedCall, 'status' | 'at'>
}
