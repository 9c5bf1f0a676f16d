import type { WallTime } from '../core/wall-clock.ts'
import type { ErrorFamily } from './answer.ts'
import type { ParamReader } from './params.ts'
import type { Switches } from './switches.ts'
import type { Channel, World } from './world/world.ts'

/** An endpoint by the last word of its path; the two menu calls share it: `createMenu` and `changeMenu`. */
export type EndpointName = string

/** What a list endpoint was asked for. The echo is apart, so that a fault can serve another page than it names. */
export interface ListQuery {
  readonly page: number
  readonly pageSize: number
  readonly echoPage: number
  readonly echoPageSize: number
  readonly from?: WallTime | undefined
  readonly to?: WallTime | undefined
  /** Without those who did not watch (4.5, 4.6), or less than a minute (4.7). */
  readonly isFiltered?: boolean
  readonly direction?: string | undefined
  readonly giftType?: string | undefined
  readonly questionId?: string | undefined
  readonly username?: string | undefined
}

/** What a list endpoint serves from. */
export interface Source {
  readonly world: World
  readonly switches: Readonly<Switches>
}

/** Puts the items of a page into the answer's shape, with the page and size that it names. */
export type Envelope = (
  items: readonly unknown[],
  total: number,
  echo: { readonly page: number; readonly pageSize: number },
  switches: Readonly<Switches>,
) => unknown

/** All rows that an endpoint has for a query; those of a page are put on the wire when they are asked for. */
export interface Served {
  readonly count: number
  readonly items: (from: number, to: number) => readonly unknown[]
  readonly envelope: Envelope
  /** Of the list that they come from. */
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
  /** The parameters other than page and size. */
  readonly readFilters: (reader: ParamReader) => Partial<ListQuery>
  /** Undefined without a channel where it needs one, and for a questionnaire that the channel does not have. */
  readonly serve: (query: ListQuery, source: Source, channel: Channel | undefined) => Served | undefined
}
