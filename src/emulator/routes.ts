import type { EndpointName } from './endpoint.ts'

/** Where a request belongs; `wrongMethod` is a known path under another method. */
export type Route =
  | { readonly kind: 'endpoint'; readonly name: EndpointName; readonly channelId?: string; readonly menuId?: string }
  | { readonly kind: 'wrongMethod' }
  | { readonly kind: 'unknown' }

/** The authorization endpoints lie below this, so that a client that mixes up the two addresses is noticed. */
export const AUTH_PREFIX = '/auth'

interface Pattern {
  readonly name: EndpointName
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Groups: channel id, menu id. */
  readonly path: RegExp
}

const patterns: readonly Pattern[] = [
  { name: 'token', method: 'GET', path: /^\/auth\/v2\/oauth2\/token$/ },
  { name: 'ticket', method: 'GET', path: /^\/auth\/v2\/oauth2\/ticket$/ },
  { name: 'authorize', method: 'GET', path: /^\/auth\/v2\/oauth2\/authorize$/ },
  { name: 'createMenu', method: 'POST', path: /^\/v1\/activities\/([^/]+)\/saveMenu$/ },
  { name: 'changeMenu', method: 'PUT', path: /^\/v1\/activities\/([^/]+)\/saveMenu\/([^/]+)$/ },
  { name: 'userRecordList', method: 'POST', path: /^\/v2\/activities\/([^/]+)\/userRecordList$/ },
  { name: 'userRecords', method: 'POST', path: /^\/v1\/activities\/([^/]+)\/userRecords$/ },
  { name: 'visitorList', method: 'POST', path: /^\/v2\/activities\/([^/]+)\/visitorList$/ },
  { name: 'managersUsage', method: 'GET', path: /^\/v1\/account\/managersUsage$/ },
  { name: 'managers', method: 'GET', path: /^\/v1\/account\/managers$/ },
  { name: 'getQuestionList', method: 'GET', path: /^\/v1\/activities\/([^/]+)\/getQuestionList$/ },
  { name: 'signupRecord', method: 'POST', path: /^\/v1\/activities\/([^/]+)\/signupRecord$/ },
  { name: 'giftRunning', method: 'POST', path: /^\/v1\/activities\/([^/]+)\/giftRunning$/ },
]

export function findRoute(method: string, path: string): Route {
  for (const pattern of patterns) {
    const match = pattern.path.exec(path)
    if (!match) continue
    if (pattern.method !== method) return { kind: 'wrongMethod' }
    const [, channelId, menuId] = match
    return {
      kind: 'endpoint',
      name: pattern.name,
      ...(channelId === undefined ? {} : { channelId }),
      ...(menuId === undefined ? {} : { menuId }),
    }
  }
  return { kind: 'unknown' }
}
