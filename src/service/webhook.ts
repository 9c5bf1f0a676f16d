import { orAborted } from '../core/clock.ts'
import { codeOf } from '../core/errors.ts'
import { type AgentOptions, createAgent } from './http.ts'

export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** JSON text to POST; without it the request is a GET. */
  readonly body?: string
}

/** The answer, or why there is none. `failure` names no address, as one may hold a key. */
type WebhookAnswer =
  | { readonly status: number; readonly text: string }
  | { readonly status: undefined; readonly failure: string }

/** A client for addresses other than the service's: chat robots, heartbeat monitors. */
export type Webhook = ReturnType<typeof createWebhook>

const MAX_BODY_BYTES = 64 * 1024

/** Creates a client that owns its connections and follows no redirects. `timeoutMs` limits a whole exchange. */
export function createWebhook(options: AgentOptions) {
  const { timeoutMs } = options
  const dispatcher = createAgent(options, { maxResponseSize: MAX_BODY_BYTES })
  return {
    ask: async ({ url, headers, body }: WebhookRequest, signal: AbortSignal): Promise<WebhookAnswer> => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      try {
        const { origin, pathname, search } = new URL(url)
        const pendingResponse = dispatcher.request({
          origin,
          path: pathname + search,
          method: body === undefined ? 'GET' : 'POST',
          signal: limit,
          headers: {
            'user-agent': 'livehouse',
            ...(body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body }),
        })
        const response = await orAborted(pendingResponse, limit)
        // Only the status matters: an unreadable body counts as empty.
        return { status: response.statusCode, text: await response.body.text().catch(() => '') }
      } catch (error) {
        signal.throwIfAborted()
        const code = codeOf(error)
        const reason = code === '' ? '' : ` (${code})`
        const failure = limit.aborted ? `no answer within ${timeoutMs / 1000} s` : `no connection${reason}`
        return { status: undefined, failure }
      }
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  }
}
