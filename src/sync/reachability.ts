import { hasCode } from '../core/errors.ts'
import type { FetchPage } from '../core/page.ts'

/** Tells a service that is out of reach from one whose single endpoint does not answer. */
export type Reachability = ReturnType<typeof watchReachability>

/** Calls in a row, each after all its attempts, that did not reach the service. */
const MOST_MISSES = 20

export function watchReachability(fetchPage: FetchPage) {
  let hasAnswered = false
  let misses = 0
  const watched: FetchPage = async (request, context) => {
    try {
      const page = await fetchPage(request, context)
      hasAnswered = true
      misses = 0
      return page
    } catch (error) {
      if (hasCode(error, 'api.unreachable')) misses++
      throw error
    }
  }
  return {
    fetchPage: watched,
    /** Whether this error means that nothing else will be reached either. */
    isLost: (error: unknown): boolean => hasCode(error, 'api.unreachable') && (!hasAnswered || misses >= MOST_MISSES),
  }
}
