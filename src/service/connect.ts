import type { Clock } from '../core/clock.ts'
import { LivehouseError } from '../core/errors.ts'
import type { Log } from '../core/log.ts'
import type { CallContext, FetchPage } from '../core/page.ts'
import { createTokenRequest } from './access-token.ts'
import { type Ask, createAsk } from './ask.ts'
import { budget, type Reserve } from './budget.ts'
import { type Client, createClient } from './client.ts'
import { hideTokens } from './hide-tokens.ts'
import { createHttp, type WireCall } from './http.ts'
import type { ListPlace } from './list-call.ts'
import { measure, type OnCall } from './measure.ts'
import { type Exchange, observe } from './observe.ts'
import { pace } from './pace.ts'
import { createMemoryPaceCell } from '../core/pace-cell.ts'
import { createFetchPage } from './paging.ts'
import { createPermits, type Permits } from './permits.ts'
import { reach } from './reach.ts'
import { readAnswers } from './read-answer.ts'
import { retry } from './retry.ts'
import { createSecrets } from './secrets.ts'
import type { Call, Send } from './send.ts'
import { createServiceClock, type ServiceClock } from './service-clock.ts'
import { token, tokenPreparation } from './token.ts'
import { createMemoryTokenStore, type TokenStore } from './token-store.ts'
import { fetchedTokens, fixedToken } from './tokens.ts'

/** How to reach the service; the settings of the contract by the same names. */
export interface ConnectOptions {
  readonly baseUrl: string
  readonly authUrl: string | null
  readonly appId: string | null
  readonly appSecret: string | null
  readonly apiToken: string | null
  readonly timeZone: string
  readonly maxCallsPerSecond: number
  readonly concurrency: number
  readonly listParams: ListPlace
  readonly requestTimeoutMs: number
  readonly proxies: { readonly http: string | null; readonly https: string | null; readonly none: string | null }
  readonly clock: Clock
  readonly log: Log
  /** Hears of each token that is fetched, so that no log line shows it. */
  readonly addSecret?: (value: string) => void
  /** From 0 to 1, exclusive; `Math.random` unless a test decides. */
  readonly random?: () => number
  /** As in `RetryOptions`. */
  readonly longestRefusedMs?: number
  /** Shares fetched tokens; this process alone without one. */
  readonly tokenStore?: TokenStore
  /** Shares the rate; this process alone without one. */
  readonly permits?: Permits
  /** Counts the calls of 4.6; without it 4.6 is never called. */
  readonly reserve?: Reserve
  /** Sees every answered call of 4.3 to 4.12 as it came; the answers hold personal data. */
  readonly onExchange?: (exchange: Exchange) => void
  /** Hears of every attempt: what it was, how it ended, how long it took; nothing of what it said. */
  readonly onCall?: OnCall | undefined
}

/** The client with everything behind it. Disposing ends its connections and what still waits for a token. */
export interface Connection extends AsyncDisposable {
  readonly client: Client
  readonly fetchPage: FetchPage
  readonly ask: Ask
  /** What every bound of what is read is measured by. */
  readonly serviceClock: ServiceClock
  /** Asks a bare address once, without a token, and tells the HTTP status. @throws `api.unreachable`, `api.timeout` */
  readonly reach: (host: 'base' | 'auth', context: CallContext) => Promise<number>
}

/**
 * Puts the client together: `send = retry(pace(budget(token(http))))`. Makes no call.
 * @throws LivehouseError `config.invalid` without any credentials.
 */
export function connect(options: ConnectOptions): Connection {
  const { clock, log, concurrency, listParams, appId, appSecret, apiToken, random = Math.random } = options
  const repeating = { clock, log, random, longestRefusedMs: options.longestRefusedMs }
  const secrets = createSecrets([appSecret, apiToken, ...passwordsOf(options.proxies)], options.addSecret ?? (() => {}))
  const http = createHttp({ ...options, timeoutMs: options.requestTimeoutMs, secrets })
  const permits = options.permits ?? createPermits({ ...options, cell: createMemoryPaceCell(clock) })
  const closing = new AbortController()
  const { serviceClock, timed } = createServiceClock(clock, http.exchange, async (exchange, signal) => {
    const paced = async (call: WireCall & Pick<Call, 'repeat'>, context: CallContext) => {
      const permit = await permits.take({ endpoint: 'base' }, signal)
      const answer = await exchange(call, context)
      permit.answered()
      return answer
    }
    await reach(retry(paced, repeating), 'base', { signal })
  })
  const read = readAnswers(observe(timed, clock, options.onExchange), serviceClock, secrets)
  const answers = whileOpen(measure(read, clock, options.onCall), closing.signal)

  const credentials = appId !== null && appSecret !== null ? { appId, appSecret } : undefined
  const fetched = credentials && {
    appId: credentials.appId,
    tokens: fetchedTokens({
      // Paced but not repeated by itself: the call that waits for the token is.
      requestToken: createTokenRequest(pace(answers, { permits }), {
        ...options,
        clock: serviceClock,
        credentials,
        secrets,
      }),
      store: hideTokens(options.tokenStore ?? createMemoryTokenStore(), secrets),
      clock: serviceClock,
      closed: closing.signal,
    }),
  }
  const bearer = apiToken === null ? fetched?.tokens : fixedToken(apiToken)
  if (!bearer) throw noCredentials()

  const tokens = { bearer, ticket: fetched }
  const authorized = budget(token(answers, tokens), options.reserve, serviceClock)
  const send = retry(pace(authorized, { concurrency, permits, preparationOf: tokenPreparation(tokens) }), repeating)
  const request = credentials && createTokenRequest(send, { ...options, clock: serviceClock, credentials, secrets })
  const client = createClient(send, {
    listParams,
    requestToken: async (context) => {
      if (!fetched || !request) throw noCredentials()
      return await fetched.tokens.renew(request, context)
    },
  })
  return {
    client,
    fetchPage: createFetchPage(client),
    ask: createAsk(send),
    serviceClock,
    reach: async (host, context) => await reach(timed, host, context),
    [Symbol.asyncDispose]: async () => {
      closing.abort(new Error('the connection to the service was closed'))
      await http[Symbol.asyncDispose]()
    },
  }
}

/** What fails because the connections have been closed is not repeated. */
function whileOpen(next: Send, closed: AbortSignal): Send {
  return async (call, context) => {
    closed.throwIfAborted()
    try {
      return await next(call, context)
    } catch (error) {
      closed.throwIfAborted()
      throw error
    }
  }
}

function noCredentials(): LivehouseError<'config.invalid'> {
  const problem =
    'LIVEHOUSE_APP_ID and LIVEHOUSE_APP_SECRET are not set: set both (and LIVEHOUSE_AUTH_URL); for reading, LIVEHOUSE_API_TOKEN will do'
  return new LivehouseError('config.invalid', problem, { problems: [problem] })
}

function passwordsOf(proxies: ConnectOptions['proxies']): string[] {
  return [proxies.http, proxies.https].flatMap((proxy) => {
    const password = URL.parse(proxy ?? '')?.password ?? ''
    // Percent-encoding in the setting and in a message may differ; both spellings of each are hidden.
    return password === '' ? [] : [password, ...new URLSearchParams(`v=${password.replaceAll('+', '%2B')}`).getAll('v')]
  })
}
