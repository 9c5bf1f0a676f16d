import type { Clock } from '../core/clock.ts'
import type { ErrorFamily } from './answer.ts'
import type { Conditions } from './conditions.ts'
import type { ClientSettings, Credentials } from './credentials.ts'
import type { Fault, FaultEffect } from './faults.ts'
import type { ListQuery, ParamReader, Params } from './params.ts'
import type { Switches } from './switches.ts'
import type { Channel, World } from './world/world.ts'

/** Wraps the items of a page in the endpoint's answer. `echo`: the page and page size that the answer reports. */
export type Envelope = (
  items: readonly unknown[],
  total: number,
  echo: { readonly page: number; readonly pageSize: number },
  switches: Readonly<Switches>,
) => unknown

/** All rows that match a query. `items` builds those of a page, `to` exclusive. */
export interface QueryResult {
  readonly count: number
  readonly items: (from: number, to: number) => readonly unknown[]
  readonly envelope: Envelope
  /** The version of the list that the rows come from. */
  readonly version: number
}

/** An endpoint that lists rows of the account, or of one channel. */
export interface ListEndpoint {
  readonly method: 'GET' | 'POST'
  readonly version: 'v1' | 'v2'
  readonly scope: 'account' | 'channel'
  readonly family: ErrorFamily
  readonly defaultPageSize: number
  readonly maxPageSize: number
  readonly pageParam: 'p' | 'page_index'
  readonly sizeParam: 'perPage' | 'page_size'
  readonly readFilters: (reader: ParamReader) => Partial<ListQuery>
  /** Undefined if the endpoint needs a channel and there is none, or if the channel has no such questionnaire. */
  readonly serve: (query: ListQuery, service: Service, channel: Channel | undefined) => QueryResult | undefined
}

/** A call as its endpoint sees it. */
export interface Call {
  /** The last segment of its path; `createMenu` and `changeMenu` for the two menu calls, which share one. */
  readonly name: string
  readonly params: Params
  readonly channel: Channel | undefined
  readonly menuId: string | undefined
  readonly effects: readonly FaultEffect[]
}

/** A call that the emulator received, and how it answered. */
export interface RecordedCall {
  readonly endpoint: string | undefined
  readonly channelId: string | undefined
  readonly page: number | undefined
  readonly size: number | undefined
  readonly params: Params
  /** 0 if no answer was sent. */
  readonly status: number
  /** Milliseconds since 1970 by the emulator's clock. */
  readonly at: number
}

/** The state of a running emulator. Its world, switches, conditions and faults may be changed at any time. */
export interface Service extends ClientSettings {
  readonly world: World
  readonly switches: Switches
  readonly conditions: Conditions
  readonly faults: Fault[]
  readonly calls: RecordedCall[]
  readonly clock: Clock
  readonly credentials: Credentials
  readonly admitsCall: () => boolean
  readonly admitsV1Call: (scope: string) => boolean
}
