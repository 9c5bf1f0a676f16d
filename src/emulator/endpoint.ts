import type { WallTime } from '../core/wall-clock.ts'
import type { ErrorFamily } from './answer.ts'
import type { ParamReader } from './params.ts'
import type { Selection } from './select-rows.ts'
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

/** The page and size that an envelope names. */
export interface Echo {
  readonly page: number
  readonly pageSize: number
}

/** Puts the items of a page into the answer's shape. */
export type Envelope = (items: readonly unknown[], total: number, echo: Echo, switches: Readonly<Switches>) => unknown

/** All rows that an endpoint has for a query, as they go out. */
export interface Served {
  readonly rows: Selection<unknown>
  readonly envelope: Envelope
  /** What the rows depend on besides the query and the switches. */
  readonly cacheKey: string
}

interface ListEndpointBase {
  /** POST when not given. */
  readonly method?: 'GET'
  /** v1 when not given. */
  readonly version?: 'v1' | 'v2'
  readonly family: ErrorFamily
  readonly defaultPageSize: number
  readonly maxPageSize: number
  readonly pageParam: 'p' | 'page_index'
  readonly sizeParam: 'perPage' | 'page_size'
  /** The parameters other than page and size. */
  readonly readFilters: (reader: ParamReader) => Partial<ListQuery>
}

/** An endpoint that lists rows of one channel; undefined for a questionnaire that the channel does not have. */
export interface ChannelList extends ListEndpointBase {
  readonly scope: 'channel'
  readonly serve: (query: ListQuery, source: Source, channel: Channel) => Served | undefined
}

/** An endpoint that lists rows of the account. */
export interface AccountList extends ListEndpointBase {
  readonly scope: 'account'
  readonly serve: (query: ListQuery, source: Source) => Served
}
