import { hasCode, LivehouseError } from '../core/errors.ts'
import type { Call, Send } from './send.ts'
import type { Tokens } from './tokens.ts'

interface TokenOptions {
  /** For the bearer header of 4.3 to 4.12. */
  readonly bearer: Tokens
  /** For 4.2, which takes the app id and a fetched token as parameters; undefined without credentials. */
  readonly ticket: { readonly appId: string; readonly tokens: Tokens } | undefined
}

/**
 * Gives every attempt a token. On a 401 a fetched token is given up, and the error says that the next attempt carries
 * another: that attempt is again paced and charged.
 */
export function token(next: Send, options: TokenOptions): Send {
  const { ticket } = options
  return async (call, context) => {
    const tokens = tokensOf(call, options)
    if (!tokens) return next(call, context)
    const issued = await tokens.current(context.signal)
    const authorized =
      call.authorization === 'query' && ticket
        ? { ...call, query: { ...call.query, appid: ticket.appId, token: issued.value } }
        : { ...call, bearer: issued.value }
    try {
      return await next(authorized, context)
    } catch (error) {
      if (!hasCode(error, 'api.unauthorized')) throw error
      throw notAccepted(error, tokens.reject(issued))
    }
  }
}

/** A call has its token before it asks for leave to go: else those that have it would wait, and then go all at once. */
export function prepareToken(options: TokenOptions): (call: Call, signal: AbortSignal) => Promise<unknown> {
  return async (call, signal) => await tokensOf(call, options)?.current(signal)
}

function tokensOf(call: Call, { bearer, ticket }: TokenOptions): Tokens | undefined {
  if (call.authorization === 'none') return undefined
  if (call.authorization === 'bearer') return bearer
  if (!ticket) throw noCredentials(call)
  return ticket.tokens
}

function notAccepted(error: LivehouseError<'api.unauthorized'>, isRenewable: boolean): LivehouseError {
  const advice = isRenewable
    ? 'the token that the service issued is not accepted; check whether this account needs LIVEHOUSE_API_TOKEN'
    : 'the token is not accepted; check LIVEHOUSE_API_TOKEN'
  const details = { ...error.details, isRenewable }
  return new LivehouseError('api.unauthorized', `${error.message}: ${advice}`, details, { cause: error })
}

function noCredentials({ name }: Call): LivehouseError<'config.invalid'> {
  const both = 'LIVEHOUSE_APP_ID and LIVEHOUSE_APP_SECRET'
  const problem = `${both} are not set, but ${name} needs them: set both, and LIVEHOUSE_AUTH_URL`
  return new LivehouseError('config.invalid', problem, { problems: [problem] })
}
