import type { Envelope, Wire } from '../core/stream.ts'

type Paged = Pick<Wire, 'paging' | 'defaultSize'>

/** Most lists: `perPage` and `p`, 20 items a page. */
export const byPerPage: Paged = { paging: { page: 'p', size: 'perPage' }, defaultSize: 20 }

/** API 4.10 and 4.11. */
export const byPageIndex: Paged = { paging: { page: 'page_index', size: 'page_size' }, defaultSize: 20 }

export const resultsEnvelope: Envelope = { items: 'results', total: 'total_num', page: 'page_num', size: 'page_size' }

/** Of the lists that belong to the account (API 4.8, 4.9). */
export const accountEnvelope: Envelope = { items: 'data', total: 'page.count', page: 'page.p', size: 'page.perPage' }

/** API 4.10 and 4.11, whose items stand elsewhere each. */
export const errcodeEnvelope = { total: 'total', page: 'page_index', size: 'size' } as const
