import PQueue from 'p-queue'
import type { CallContext, ListPlace, ListRequest } from '../core/page.ts'
import { createMemoryPace, createMemoryTokenStore, type Reserve, type TokenStore } from '../core/shared-calls.ts'
import { budget } from './budget.ts'
import { createAsk, createFetchPage } from './fetch-page.ts'
import { createHttp, type HttpOptions, type RawAnswer, type WireCall } from './http.ts'
import { createPace, type Pace } from './pace.ts'
import { type AnswerOptions, readAnswers } from './read-answer.ts'
import { type RetryOptions, retry } from './retry.ts'
import type { Call, Send } from './send.ts'
import { createServiceClock } from './service-clock.ts'
import { type FetchToken, fetchTokens, noCredentials, TOKEN_CALL, type TokensOptions, token } from './tokens.ts'

/** How to reach the service; the fields are the settings of the same names. */
export interface ServiceAccess extends Pick<HttpOptions, 'baseUrl' | 'authUrl' | 'concurrency' | 'proxies'> {
  readonly appId: string | null
  readonly appSecret: string | null
  readonly apiToken: string | null
  readonly maxCallsPerSecond: number
  readonly listParams: ListPlace
  readonly requestTimeoutMs: number
}

export interface ConnectOptions
  extends ServiceAccess,
    Pick<AnswerOptions, 'clock' | 'redact' | 'onExchange' | 'onCall'>,
    Pick<TokensOptions, 'addSecret'>,
    Pick<RetryOptions, 'log' | 'longestRefusedMs'> {
  /** From 0 to 1, exclusive; `Math.random` unless a test decides. */
  readonly random?: () => number
  /** Shares fetched tokens with other processes; by default this process keeps its own. */
  readonly tokenStore?: TokenStore
  /** Shares the call rate with other processes; by default this process has its own. */
  readonly pace?: Pace
  /** Takes calls of 4.6 from their budget; without it 4.6 cannot be called. */
  readonly reserve?: Reserve
  /** Awaited before the first page of any list is returned. If it throws, so does the call; the next page retries. */
  readonly onFirstPage?: (() => Promise<void>) | undefined
  /** A list of the account, requested for its `Date` when the one from `/` may be out of date. */
  readonly accountList: ListRequest
}

/** The service behind all layers of a call. Disposal closes its connections and ends calls that wait for a token. */
export type Connection = ReturnType<typeof connect>

/**
 * Assembles the layers of a call (ARCHITECTURE, "A call"). Makes no call itself.
 * @throws LivehouseError `config.invalid` without any credentials.
 */
export function connect(options: ConnectOptions) {
  const { clock, concurrency, appId, appSecret, apiToken, random = Math.random } = options
  const retryOptions = { ...options, random }
  const http = createHttp({ ...options, timeoutMs: options.requestTimeoutMs })
  const pace = options.pace ?? createPace(createMemoryPace(clock), options.maxCallsPerSecond, clock)
  const closing = new AbortController()
  const closed = closing.signal
  const { serviceClock, timed } = createServiceClock(
    clock,
    http.exchange,
    (exchange, signal) =>
      retry(pace.endpointRate(pace.ceiling<BareCall, RawAnswer>(exchange)), retryOptions)(bareCall, { signal }),
    (signal) => {
      // Takes no slot: the call that waits for the time may hold the last one.
      const ask = createAsk(retry(pace.endpointRate(authorized), retryOptions), 'once')
      return ask({ list: options.accountList, page: 1, pageSize: 1 }, { signal })
    },
  )
  const answers = pace.ceiling(readAnswers(timed, { ...options, serviceClock, closed }))

  const retryToken = retry(async ({ fetch }: TokenFetch, attempt) => await fetch(attempt), retryOptions)
  // With `longestRefusedMs` a person is waiting: then a token is worth no more time than a read.
  const retries = options.longestRefusedMs === undefined ? 'token' : 'read'
  const tokens =
    appId !== null && appSecret !== null
      ? fetchTokens({
          ...options,
          appId,
          appSecret,
          closed,
          send: pace.endpointRate(answers),
          retry: async (fetch, context) => await retryToken({ name: TOKEN_CALL, retries, fetch }, context),
          store: options.tokenStore ?? createMemoryTokenStore(),
          clock: serviceClock,
        })
      : undefined
  // A token that the operator configured cannot be renewed.
  const bearer = apiToken === null ? tokens : { current: async () => ({ value: apiToken }), reject: () => false }
  if (!bearer) throw noCredentials()

  const unbudgeted = token(answers, bearer, tokens)
  // The token comes first: while the token service fails, no call of the day is spent, and none waits past midnight.
  const budgeted = token(budget(answers, options.reserve, serviceClock), bearer, tokens)
  const authorized: Send = (call, context) => (call.isBudgeted ? budgeted : unbudgeted)(call, context)
  const slots = new PQueue({ concurrency })
  // A call takes a slot only after its endpoint's turn: calls that wait for a slow endpoint must not occupy them all.
  const inSlot: Send = (call, context) => slots.add(() => authorized(call, context), { signal: context.signal })
  const renewToken = apiToken === null ? tokens?.renew : undefined
  const send = retry(pace.endpointRate(inSlot), { ...retryOptions, renewToken })
  return {
    fetchPage: createFetchPage(send, options.listParams, options.onFirstPage),
    ask: createAsk(send, 'once', options.onFirstPage),
    send,
    /** API 4.1: asks for a new access token and shares it. */
    accessToken: async (context: CallContext) => {
      if (!tokens) throw noCredentials()
      return await retryToken({ name: TOKEN_CALL, retries: 'read', fetch: tokens.renew }, context)
    },
    /** The clock that decides where the ranges to read end. */
    serviceClock,
    /** Asks `/` once, without a token. @returns the HTTP status @throws `api.unreachable`, `api.timeout` */
    reach: async (context: CallContext) => (await pace.ceiling<BareCall, RawAnswer>(timed)(bareCall, context)).status,
    [Symbol.asyncDispose]: async () => {
      closing.abort(new Error('the connection to the service was closed'))
      await http[Symbol.asyncDispose]()
    },
  }
}

type TokenFetch = Pick<Call, 'name' | 'retries'> & { readonly fetch: FetchToken }
type BareCall = WireCall & Pick<Call, 'endpoint' | 'retries'>

/** Requests `/` without a token, to learn whether anything answers and what time it is. */
const bareCall: BareCall = { endpoint: 'base', name: 'GET /', method: 'GET', host: 'base', path: '', retries: 'read' }
