import type {
  CallContext,
  GiftQuery,
  ListRequest,
  ManagerUsageQuery,
  Page,
  QuestionnaireQuery,
  SignupQuery,
  VisitorListQuery,
  WatchRecordQuery,
} from '../core/page.ts'
import type { AccessToken } from './access-token.ts'
import { type LoginTicketRequest, readTicket, ticketCall } from './login-ticket.ts'
import { type ListPlace, listCall } from './list-call.ts'
import { readListPage } from './list-page.ts'
import { createListPlaces } from './list-places.ts'
import type { MenuRequest, SavedMenu } from './menu.ts'
import type { Send } from './send.ts'

/** Which page of a list; `page` counts from 1. The largest size is 100, but 10 for 4.8 and 50 for 4.11 (API 8). */
export interface Paging {
  readonly page: number
  readonly pageSize: number
}

/**
 * All twelve calls of the service. Every method may throw a LivehouseError with an `api.…` code; items of lists are as they
 * came.
 */
export interface Client {
  /** API 4.1: asks for a new access token. */
  readonly accessToken: (context: CallContext) => Promise<AccessToken>
  /** API 4.2: a ticket, valid 5 minutes, for one use. Checked before it is sent, never repeated. */
  readonly loginTicket: (request: LoginTicketRequest, context: CallContext) => Promise<string>
  /** API 4.3: adds a menu. Checked before it is sent, never repeated. */
  readonly createMenu: (channelId: string, menu: MenuRequest, context: CallContext) => Promise<SavedMenu>
  /** API 4.4. Checked before it is sent. */
  readonly updateMenu: (
    channelId: string,
    menuId: number,
    menu: MenuRequest,
    context: CallContext,
  ) => Promise<SavedMenu>
  /** API 4.5: viewer watch records with totals. */
  readonly watchRecords: (query: WatchRecordQuery, paging: Paging, context: CallContext) => Promise<Page>
  /** API 4.6: ten calls a day; a bare array. @throws `api.budgetSpent` */
  readonly watchRecordsV1: (query: WatchRecordQuery, paging: Paging, context: CallContext) => Promise<Page>
  /** API 4.7: one item a viewer of the channel. */
  readonly visitors: (query: VisitorListQuery, paging: Paging, context: CallContext) => Promise<Page>
  /** API 4.8: at most 10 a page. @throws `paging.ignored` */
  readonly managerUsage: (query: ManagerUsageQuery, paging: Paging, context: CallContext) => Promise<Page>
  /** API 4.9. @throws `paging.ignored` */
  readonly managers: (paging: Paging, context: CallContext) => Promise<Page>
  /** API 4.10. */
  readonly questionnaires: (query: QuestionnaireQuery, paging: Paging, context: CallContext) => Promise<Page>
  /** API 4.11: rows of cells, their headers in `title`; at most 50 a page. */
  readonly signups: (query: SignupQuery, paging: Paging, context: CallContext) => Promise<Page>
  /** API 4.12: one type a call; a bare array. */
  readonly gifts: (query: GiftQuery, paging: Paging, context: CallContext) => Promise<Page>
}

export interface ClientOptions {
  /** The place that 4.8 and 4.9 are tried with first. */
  readonly listParams: ListPlace
  /** Makes the call of 4.1, which needs the secret that only the token layer holds. */
  readonly requestToken: (context: CallContext) => Promise<AccessToken>
}

/** How wide a text is takes 20 ms to load, and only menus ask for it. */
const importMenu = async () => await import('./menu.ts')

/** The service's calls over `send`, which paces, repeats and authorises them. */
export function createClient(send: Send, { listParams, requestToken }: ClientOptions): Client {
  const fetchAccountList = createListPlaces(send, listParams)
  const fetchList = async (list: ListRequest, paging: Paging, context: CallContext): Promise<Page> => {
    const request = { list, ...paging }
    const call = listCall(request)
    return readListPage(request, call.name, await send(call, context))
  }
  return {
    accessToken: requestToken,
    loginTicket: async (request, context) => readTicket(await send(ticketCall(request), context)),
    createMenu: async (channelId, menu, context) => {
      const { menuCall, readMenu } = await importMenu()
      const call = menuCall(channelId, undefined, menu)
      return readMenu(call, await send(call, context))
    },
    updateMenu: async (channelId, menuId, menu, context) => {
      const { menuCall, readMenu } = await importMenu()
      const call = menuCall(channelId, menuId, menu)
      return readMenu(call, await send(call, context))
    },
    watchRecords: (query, paging, context) => fetchList({ endpoint: 'userRecordList', ...query }, paging, context),
    watchRecordsV1: (query, paging, context) => fetchList({ endpoint: 'userRecords', ...query }, paging, context),
    visitors: (query, paging, context) => fetchList({ endpoint: 'visitorList', ...query }, paging, context),
    managerUsage: (query, paging, context) =>
      fetchAccountList({ list: { endpoint: 'managersUsage', ...query }, ...paging }, context),
    managers: (paging, context) => fetchAccountList({ list: { endpoint: 'managers' }, ...paging }, context),
    questionnaires: (query, paging, context) => fetchList({ endpoint: 'getQuestionList', ...query }, paging, context),
    signups: (query, paging, context) => fetchList({ endpoint: 'signupRecord', ...query }, paging, context),
    gifts: (query, paging, context) => fetchList({ endpoint: 'giftRunning', ...query }, paging, context),
  }
}
