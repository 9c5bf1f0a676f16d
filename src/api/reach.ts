import type { CallContext } from '../core/page.ts'
import type { Http } from './http.ts'

/** What answered at an address of the service. */
export interface Reached {
  /** The HTTP status; any shows that something is there. */
  readonly status: number
  /** The answer's `Date` header in milliseconds since 1970; undefined without one. */
  readonly serviceTimeMs: number | undefined
}

/**
 * Asks the bare address once, without a token: is anything there?
 * @throws LivehouseError `api.unreachable`, `api.timeout`, `api.badBody`, `api.bodyRefused`
 */
export async function reach(exchange: Http['exchange'], host: 'base' | 'auth', context: CallContext): Promise<Reached> {
  const { status, date } = await exchange({ name: 'GET /', method: 'GET', host, path: '' }, context)
  const serviceTimeMs = Date.parse(date ?? '')
  return { status, serviceTimeMs: Number.isNaN(serviceTimeMs) ? undefined : serviceTimeMs }
}
