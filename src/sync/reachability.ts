import { hasCode } from '../core/errors.ts'
import type { FetchPage } from '../core/page.ts'

/** Tells a service that is out of reach from one whose single endpoint does not answer. */
export interface Reachability {
  /** The same calls, watched. */
  readonly fetchPage: FetchPage
  /** Whether this error means that nothing else will be reached either. */
  readonly isLost: (error: unknown) => boolean
}

/** Calls in a row, each after all its attempts, that did not reach the service. */
const MOST_MISSES = 20

export function watchReachability(fetchPage: FetchPage): Reachability {
  let hasAnswered = false
  let misses = 0
  return {
    fetchPage: async (request, context) => {
      try {
        const page = await fetchPage(request, context)
        hasAnswered = true
        misses = 0
        return page
      } catch (error) {
        if (hasCode(error, 'api.unreachable')) misses++
        throw error
      }
    },
    isLost: (error) => hasCode(error, 'api.unreachable') && (!hasAnswered || misses >= MOST_MISSES),
  }
}
