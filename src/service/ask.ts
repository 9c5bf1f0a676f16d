import type { CallContext, Page, PageRequest } from '../core/page.ts'
import { type ListPlace, listCall } from './list-call.ts'
import { readListPage } from './list-page.ts'
import type { Send } from './send.ts'

/** Asks for one page exactly as told. @throws LivehouseError with an `api.…` code */
export type Ask = (request: PageRequest, context: CallContext, place?: ListPlace) => Promise<Page>

/**
 * Asks as told, to learn how the service takes it: a refusal is an answer and is not repeated, only one failure of transport
 * is, and the parameters of 4.8 and 4.9 stand where `place` says.
 */
export function createAsk(send: Send): Ask {
  return async (request, context, place) => {
    const call = listCall(request, place)
    return readListPage(request, call.name, await send({ ...call, repeat: 'once' }, context))
  }
}
