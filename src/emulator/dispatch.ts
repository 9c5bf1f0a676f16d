import { isObject } from '../core/text.ts'
import { type Answer, type ErrorFamily, type Refusal, refusals, refuse } from './answer.ts'
import type { Call, RecordedCall, Service } from './endpoint.ts'
import { takeEffects } from './faults.ts'
import type { Incoming } from './http.ts'
import { listEndpoints } from './list-endpoints.ts'
import { answerList } from './list-page.ts'
import { answerChangeMenu, answerCreateMenu, answerTicket, answerToken } from './other-endpoints.ts'
import type { Params } from './params.ts'
import type { Switches } from './switches.ts'

/** The path prefix of the authorization endpoints, so that a client that mixes up the two base URLs gets a 404. */
export const AUTH_PREFIX = '/auth'

interface Endpoint {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT'
  /** Captures the channel id and the menu id. */
  readonly path: RegExp
  readonly family: ErrorFamily
  /** Below `AUTH_PREFIX`; needs no bearer token. */
  readonly isAuth?: boolean
  readonly isAccount?: boolean
  readonly answer: (call: Call, service: Service) => Answer
}

const authDefaults = { method: 'GET', family: 'errcode', isAuth: true } as const
const menu = '/v1/activities/([^/]+)/saveMenu'

const endpoints: readonly Endpoint[] = [
  { ...authDefaults, name: 'token', path: pathOf(`${AUTH_PREFIX}/v2/oauth2/token`), answer: answerToken },
  { ...authDefaults, name: 'ticket', path: pathOf(`${AUTH_PREFIX}/v2/oauth2/ticket`), answer: answerTicket },
  { name: 'createMenu', method: 'POST', path: pathOf(menu), family: 'errors', answer: answerCreateMenu },
  { name: 'changeMenu', method: 'PUT', path: pathOf(`${menu}/([^/]+)`), family: 'errors', answer: answerChangeMenu },
  ...Object.entries(listEndpoints).map(([name, list]): Endpoint => {
    const { method, version, scope, family } = list
    const isAccount = scope === 'account'
    const path = pathOf(`/${version}/${isAccount ? 'account' : 'activities/([^/]+)'}/${name}`)
    const answer: Endpoint['answer'] = (call, service) => answerList(list, call, service)
    return { name, method, path, family, isAccount, answer }
  }),
]

function pathOf(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`)
}

/**
 * Answers one request: runs the gateway's checks, calls the endpoint, and applies the faults that match the call.
 * @returns the answer, and the call to record
 */
export function dispatch(
  incoming: Incoming,
  service: Service,
): { readonly answer: Answer; readonly call: Omit<RecordedCall, 'status' | 'at'> } {
  const endpoint = endpoints.find(({ path }) => path.test(incoming.path))
  if (endpoint?.method !== incoming.method) {
    const reason = endpoint === undefined ? refusals.notFound('path') : refusals.wrongMethod
    const call = { endpoint: undefined, channelId: undefined, page: undefined, size: undefined, params: {} }
    return { answer: refuse('errors', reason, 'matching'), call }
  }
  const [, channelId, menuId] = endpoint.path.exec(incoming.path) ?? []
  const params = readParams(endpoint, incoming, service.switches)
  const call = {
    endpoint: endpoint.name,
    channelId,
    page: numberIn(params?.['p'] ?? params?.['page_index']),
    size: numberIn(params?.['perPage'] ?? params?.['page_size']),
    params: params ?? {},
  }
  const effects = takeEffects(service.faults, call)
  const channel = service.world.channels.get(channelId ?? '')
  const refusal = refusalOf(endpoint, incoming, params, channelId, service)
  const answer = refusal
    ? refuseAtGate(endpoint, refusal, service)
    : endpoint.answer({ name: endpoint.name, params: params ?? {}, channel, menuId, effects }, service)
  return { answer: effects.reduce((before, { answer: change }) => change?.(before) ?? before, answer), call }
}

/** Why the gateway refuses a call before it reaches the endpoint. */
function refusalOf(
  { name, isAuth }: Endpoint,
  { authorization, contentType }: Incoming,
  params: Params | undefined,
  channelId: string | undefined,
  { world, switches, credentials, admitsCall, admitsV1Call }: Service,
): Refusal | undefined {
  if (!admitsCall()) return refusals.rateLimited
  if (isAuth === true) return undefined
  if (!credentials.isBearer(/^Bearer (.+)$/.exec(authorization)?.[1] ?? '')) return refusals.unauthorized
  const budgetScope = switches.v1BudgetScope === 'account' ? 'account' : `channel=${channelId}`
  if (name === 'userRecords' && !admitsV1Call(budgetScope)) return refusals.rateLimited
  if (!/^application\/json\b/i.test(contentType)) return refusals.invalid('Content-Type')
  if (params === undefined) return refusals.invalid('body is not a JSON object')
  return channelId !== undefined && !world.channels.has(channelId) ? refusals.noActivity : undefined
}

function refuseAtGate({ family }: Endpoint, refusal: Refusal, { switches, conditions }: Service): Answer {
  const answer = refuse(family, refusal, switches.errcodeStatus)
  const { retryAfterSeconds } = conditions
  if (refusal !== refusals.rateLimited || retryAfterSeconds === undefined) return answer
  return { ...answer, headers: { 'retry-after': String(retryAfterSeconds) } }
}

/** Auth endpoints read the query, others a JSON object (4.8, 4.9: by switch); undefined for any other body. */
function readParams(
  { isAuth, isAccount }: Endpoint,
  { query, text }: Incoming,
  { listParams }: Readonly<Switches>,
): Params | undefined {
  if (isAuth === true || (isAccount === true && listParams === 'query')) return query
  if (text === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function numberIn(value: unknown): number | undefined {
  return value === undefined ? undefined : Number(value)
}
