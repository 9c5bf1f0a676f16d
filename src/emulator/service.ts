import type { Clock } from '../core/clock.ts'
import type { Conditions } from './conditions.ts'
import type { ClientSettings, Credentials } from './credentials.ts'
import type { EndpointName, Source } from './endpoint.ts'
import type { Fault, FaultEffect } from './faults.ts'
import type { Params } from './params.ts'
import type { Switches } from './switches.ts'
import type { Channel } from './world/world.ts'

/** What an endpoint is asked with. */
export interface Asked {
  readonly name: EndpointName
  readonly params: Params
  readonly channel: Channel | undefined
  readonly menuId: string | undefined
  readonly effects: readonly FaultEffect[]
}

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

/** The state of a running emulator: the world, switches, conditions and faults may be changed at any time. */
export interface Service extends Source, ClientSettings {
  readonly switches: Switches
  readonly conditions: Conditions
  /** A queue. */
  readonly faults: Fault[]
  readonly calls: RecordedCall[]
  readonly clock: Clock
  readonly credentials: Credentials
  readonly admitsCall: () => boolean
  readonly admitsV1Call: (scope: string) => boolean
}
