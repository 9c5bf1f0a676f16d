import type { Envelope, Wire } from '../core/stream.ts'

type Paged = Pick<Wire, 'paging' | 'defaultSize'>

/** The paging parameters of most lists. */
export const byPerPage: Paged = { paging: { page: 'p', size: 'perPage' }, defaultSize: 20 }

/** The paging parameters of API 4.10 and 4.11. */
export const byPageIndex: Paged = { paging: { page: 'page_index', size: 'page_size' }, defaultSize: 20 }

export const resultsEnvelope: Envelope = { items: 'results', total: 'total_num', page: 'page_num', size: 'page_size' }

/** The envelope of the account's lists (API 4.8, 4.9). */
export const accountEnvelope: Envelope = { items: 'data', total: 'page.count', page: 'page.p', size: 'page.perPage' }

/** The envelope of API 4.10 and 4.11, without the name of the items, which differs. */
export const errcodeEnvelope = { total: 'total', page: 'page_index', size: 'size' } as const
