import type { CallContext } from '../core/page.ts'
import type { RawAnswer, WireCall } from './http.ts'
import type { Call } from './send.ts'

/**
 * Asks the bare address without a token: is anything there, and what time is it?
 * @returns the HTTP status; any shows that something is there
 * @throws LivehouseError `api.unreachable`, `api.timeout`, `api.badBody`, `api.bodyRefused`
 */
export async function reach(
  exchange: (call: WireCall & Pick<Call, 'repeat'>, context: CallContext) => Promise<RawAnswer>,
  host: 'base' | 'auth',
  context: CallContext,
): Promise<number> {
  return (await exchange({ name: 'GET /', method: 'GET', host, path: '', repeat: 'read' }, context)).status
}
