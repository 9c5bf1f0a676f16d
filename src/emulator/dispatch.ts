import { type Answer, type Refusal, refusals, refuse } from './answer.ts'
import type { EndpointName } from './endpoint.ts'
import { type FaultEffect, takeEffects } from './faults.ts'
import type { Incoming } from './http.ts'
import { listEndpoints } from './list-endpoints.ts'
import { answerList } from './list-page.ts'
import { answerAuthorize, answerChangeMenu, answerCreateMenu, answerTicket, answerToken } from './other-endpoints.ts'
import type { Params } from './params.ts'
import type { Outcome, Service } from './service.ts'

/** The authorization endpoints lie below this, so that a client that mixes up the two addresses is noticed. */
export const AUTH_PREFIX = '/auth'

const authEndpoints: Readonly<Record<string, ((params: Params, service: Service) => Answer) | undefined>> = {
  token: answerToken,
  ticket: answerTicket,
  authorize: answerAuthorize,
}

interface Pattern {
  readonly name: EndpointName
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Groups: channel id, menu id. */
  readonly path: RegExp
}

const patterns: readonly Pattern[] = [
  ...Object.keys(authEndpoints).map(
    (name): Pattern => ({ name, method: 'GET', path: new RegExp(`^${AUTH_PREFIX}/v2/oauth2/${name}$`) }),
  ),
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

/** Where a request belongs. */
interface Route {
  readonly name: EndpointName
  readonly channelId: string | undefined
  readonly menuId: string | undefined
}

/** Answers one request: the gateway's checks, the endpoint, and the faults that meet the call. */
export function dispatch(incoming: Incoming, service: Service): Outcome {
  const pattern = patterns.find(({ path }) => path.test(incoming.path))
  if (pattern?.method !== incoming.method) {
    const reason = pattern === undefined ? refusals.notFound('path') : refusals.wrongMethod
    const call = { endpoint: undefined, channelId: undefined, page: undefined, size: undefined, params: {} }
    return { answer: refuse('errors', reason, 'matching'), call }
  }
  const { name } = pattern
  const [, channelId, menuId] = pattern.path.exec(incoming.path) ?? []
  const params = readParams(name, incoming, service)
  const call = {
    endpoint: name,
    channelId,
    page: numberIn(params, ['p', 'page_index']),
    size: numberIn(params, ['perPage', 'page_size']),
    params: params ?? {},
  }
  const effects = takeEffects(service.faults, call)
  const answer = answerEndpoint({ name, channelId, menuId }, incoming, params, effects, service)
  return { answer: effects.reduce((before, { answer: change }) => change?.(before) ?? before, answer), call }
}

function answerEndpoint(
  { name, channelId, menuId }: Route,
  incoming: Incoming,
  params: Params | undefined,
  effects: readonly FaultEffect[],
  service: Service,
): Answer {
  const { world, switches } = service
  const answerAuth = authEndpoints[name]
  const list = listEndpoints[name]
  const family = answerAuth ? 'errcode' : (list?.family ?? 'errors')
  const refused = (refusal: Refusal) => refuse(family, refusal, switches.errcodeStatus)
  if (!service.admitsCall()) return withRetryAfter(refused(refusals.rateLimited), service)
  if (answerAuth) return answerAuth(params ?? {}, service)

  const bearer = /^Bearer (.+)$/.exec(incoming.authorization)?.[1]
  if (bearer === undefined || !service.credentials.isBearer(bearer)) return refused(refusals.unauthorized)
  const budgetScope = switches.v1BudgetScope === 'account' ? 'account' : `channel=${channelId}`
  if (name === 'userRecords' && !service.admitsV1Call(budgetScope)) return refused(refusals.rateLimited)
  if (!/^application\/json\b/i.test(incoming.contentType)) return refused(refusals.invalid('Content-Type'))
  if (params === undefined) return refused(refusals.invalid('body is not a JSON object'))

  const channel = channelId === undefined ? undefined : world.channels.get(channelId)
  if (channelId !== undefined && !channel) return refused(refusals.noActivity)
  if (list) return answerList(list, params, channel, effects, service)
  if (!channel) return refused(refusals.notFound('path'))
  return menuId === undefined
    ? answerCreateMenu(params, channel, world)
    : answerChangeMenu(params, menuId, channel, world)
}

/** Undefined for a body that is no JSON object. Auth endpoints read the query, others the body (4.8, 4.9 by switch). */
function readParams(name: EndpointName, { query, text }: Incoming, { switches }: Service): Params | undefined {
  const isOfAccount = listEndpoints[name]?.scope === 'account'
  if (authEndpoints[name] || (isOfAccount && switches.listParams === 'query')) return query
  if (text === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function numberIn(params: Params | undefined, names: readonly string[]): number | undefined {
  const value = names.map((name) => params?.[name]).find((given) => given !== undefined)
  return value === undefined ? undefined : Number(value)
}

function withRetryAfter(answer: Answer, { conditions: { retryAfterSeconds } }: Service): Answer {
  if (retryAfterSeconds === undefined) return answer
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(retryAfterSeconds) } }
}
