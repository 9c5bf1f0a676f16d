import { type Answer, type ErrorFamily, type Refusal, refusals, refuse } from './answer.ts'
import type { EndpointName } from './endpoint.ts'
import { type FaultEffect, takeEffects } from './faults.ts'
import type { Incoming } from './http.ts'
import { listEndpoints } from './list-endpoints.ts'
import { answerList } from './list-page.ts'
import { answerAuthorize, answerChangeMenu, answerCreateMenu, answerTicket, answerToken } from './other-endpoints.ts'
import type { Params } from './params.ts'
import type { Outcome, Service } from './service.ts'

type Endpoint = Extract<Route, { kind: 'endpoint' }>

/** Answers one request: the gateway's checks, the endpoint, and the faults that meet the call. */
export function dispatch(incoming: Incoming, service: Service): Outcome {
  const route = findRoute(incoming.method, incoming.path)
  if (route.kind !== 'endpoint') {
    const reason = route.kind === 'unknown' ? refusals.notFound('path') : refusals.wrongMethod
    const call = { endpoint: undefined, channelId: undefined, page: undefined, size: undefined, params: {} }
    return { answer: refuse('errors', reason, 'matching'), call }
  }
  const params = readParams(route.name, incoming, service)
  const call = {
    endpoint: route.name,
    channelId: route.channelId,
    page: pageOf(params, ['p', 'page_index']),
    size: pageOf(params, ['perPage', 'page_size']),
    params: params ?? {},
  }
  const effects = takeEffects(service.faults, call)
  const answer = answerEndpoint(route, incoming, params, effects, service)
  return { answer: effects.reduce((before, { answer: change }) => change?.(before) ?? before, answer), call }
}

function answerEndpoint(
  route: Endpoint,
  incoming: Incoming,
  params: Params | undefined,
  effects: readonly FaultEffect[],
  service: Service,
): Answer {
  const family = familyOf(route.name)
  const refused = (refusal: Refusal) => refuse(family, refusal, service.switches.errcodeStatus)
  if (!service.admitsCall()) return withRetryAfter(refused(refusals.rateLimited), service)
  if (isAuth(route.name)) return answerAuth(route.name, params ?? {}, service)

  const bearer = /^Bearer (.+)$/.exec(incoming.authorization)?.[1]
  if (bearer === undefined || !service.credentials.isBearer(bearer)) return refused(refusals.unauthorized)
  if (route.name === 'userRecords' && !service.admitsV1Call(v1Scope(route, service)))
    return refused(refusals.rateLimited)
  if (!/^application\/json\b/i.test(incoming.contentType)) return refused(refusals.invalid('Content-Type'))
  if (params === undefined) return refused(refusals.invalid('body is not a JSON object'))

  const channel = route.channelId === undefined ? undefined : service.world.channels.get(route.channelId)
  if (route.channelId !== undefined && !channel) return refused(refusals.noActivity)
  if (route.name === 'createMenu' && channel) return answerCreateMenu(params, channel, service.world)
  if (route.name === 'changeMenu' && channel) {
    return answerChangeMenu(params, route.menuId ?? '', channel, service.world)
  }
  const list = listEndpoints[route.name]
  if (!list) return refused(refusals.notFound('path'))
  return answerList(list, params, channel, effects, service)
}

function answerAuth(name: 'token' | 'ticket' | 'authorize', params: Params, service: Service): Answer {
  switch (name) {
    case 'token':
      return answerToken(params, service)
    case 'ticket':
      return answerTicket(params, service)
    case 'authorize':
      return answerAuthorize(params, service)
  }
}

/** Undefined for a body that is no JSON object. Auth endpoints read the query, others the body (4.8, 4.9 by switch). */
function readParams(name: EndpointName, { query, text }: Incoming, { switches }: Service): Params | undefined {
  if (isAuth(name)) return query
  const body = parseObject(text)
  if (listEndpoints[name]?.scope !== 'account') return body
  return switches.listParams === 'query' ? query : body
}

function parseObject(text: string): Params | undefined {
  if (text === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return isObject(value) ? value : undefined
}

function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function pageOf(params: Params | undefined, names: readonly string[]): number | undefined {
  const value = names.map((name) => params?.[name]).find((given) => given !== undefined)
  return value === undefined ? undefined : Number(value)
}

function familyOf(name: EndpointName): ErrorFamily {
  return isAuth(name) ? 'errcode' : (listEndpoints[name]?.family ?? 'errors')
}

function isAuth(name: EndpointName): name is 'token' | 'ticket' | 'authorize' {
  return name === 'token' || name === 'ticket' || name === 'authorize'
}

function v1Scope({ channelId }: Endpoint, { switches }: Service): string {
  return switches.v1BudgetScope === 'account' ? 'account' : `channel=${channelId}`
}

function withRetryAfter(answer: Answer, { conditions: { retryAfterSeconds } }: Service): Answer {
  if (retryAfterSeconds === undefined) return answer
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(retryAfterSeconds) } }
}

/** Where a request belongs; `wrongMethod` is a known path under another method. */
type Route =
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
  ...Object.entries(listEndpoints).map(
    ([name, { method, version = 'v1', scope }]): Pattern => ({
      name,
      method: method ?? 'POST',
      path: new RegExp(`^/${version}/${scope === 'account' ? 'account' : 'activities/([^/]+)'}/${name}$`),
    }),
  ),
]

function findRoute(method: string, path: string): Route {
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
