import type { ListRequest, PageRequest } from '../core/page.ts'
import { type Call, invalidRequest } from './send.ts'

/** Where 4.8 and 4.9 expect their parameters. */
export type ListPlace = 'query' | 'body'

type Parameters = Readonly<Record<string, string | number>>

/**
 * The call of a list endpoint for one page, every given parameter named as its section of the spec does.
 * @throws LivehouseError `api.invalidRequest` for a channel id that could not stand in a path.
 */
export function listCall(request: PageRequest, place: ListPlace = 'query'): Call {
  const { list, page, pageSize } = request
  const paged = { perPage: pageSize, p: page }
  const indexed = { page_size: pageSize, page_index: page }
  switch (list.endpoint) {
    case 'visitorList':
      return channelCall(request, list.channelId, 'POST', 'v2', {
        filter: list.filter,
        direction: list.direction,
        ...paged,
      })
    case 'userRecordList':
      return channelCall(request, list.channelId, 'POST', 'v2', {
        ...between(list, 'start_time', 'end_time'),
        filter_watch_time: list.filterWatchTime,
        ...paged,
      })
    case 'userRecords':
      return {
        ...channelCall(request, list.channelId, 'POST', 'v1', {
          ...between(list, 'start_time', 'end_time'),
          filter_watch_time: list.filterWatchTime,
          ...paged,
        }),
        repeat: 'once',
      }
    case 'giftRunning':
      return channelCall(request, list.channelId, 'POST', 'v1', {
        type: list.type,
        ...between(list, 'startTime', 'endTime'),
        ...paged,
      })
    case 'getQuestionList':
      return channelCall(request, list.channelId, 'GET', 'v1', indexed)
    case 'signupRecord':
      return channelCall(request, list.channelId, 'POST', 'v1', {
        question_id: list.questionId,
        ...between(list, 'start_time', 'end_time'),
        ...indexed,
      })
    case 'managers':
      return accountCall(request, place, paged)
    case 'managersUsage':
      return accountCall(request, place, {
        ...(list.username === undefined ? {} : { username: list.username }),
        ...paged,
      })
  }
}

/**
 * The path of a call about one channel.
 * @throws LivehouseError `api.invalidRequest`
 */
export function channelPath(version: 'v1' | 'v2', channelId: string, rest: string, name: string): string {
  if (!/^[\w-]+$/.test(channelId)) {
    throw invalidRequest(name, 'a channel id consists of letters, digits, - and _', channelId)
  }
  return `/${version}/activities/${channelId}/${rest}`
}

function channelCall(
  { list, page }: PageRequest,
  channelId: string,
  method: 'GET' | 'POST',
  version: 'v1' | 'v2',
  body: Parameters,
): Call {
  const name = `${method} ${list.endpoint} channel ${channelId}${partOf(list)} page ${page}`
  const path = channelPath(version, channelId, list.endpoint, name)
  const { endpoint } = list
  return { endpoint, name, method, host: 'base', path, body, channelId, authorization: 'bearer', repeat: 'read' }
}

function accountCall({ list, page }: PageRequest, place: ListPlace, parameters: Parameters): Call {
  const { endpoint } = list
  const texts = Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)]))
  return {
    endpoint,
    name: `GET ${endpoint} page ${page}`,
    method: 'GET',
    host: 'base',
    path: `/v1/account/${endpoint}`,
    ...(place === 'query' ? { query: texts } : { body: parameters }),
    authorization: 'bearer',
    repeat: 'read',
  }
}

function partOf(list: ListRequest): string {
  if (list.endpoint === 'giftRunning') return ` type ${list.type}`
  return list.endpoint === 'signupRecord' ? ` question ${list.questionId}` : ''
}

function between(
  { startTime, endTime }: { readonly startTime?: string; readonly endTime?: string },
  from: string,
  to: string,
): Parameters {
  return {
    ...(startTime === undefined ? {} : { [from]: startTime }),
    ...(endTime === undefined ? {} : { [to]: endTime }),
  }
}
