import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'

interface RawRequest {
  readonly method?: string
  readonly url: string
  readonly bearer?: string
  /** Sent as JSON; a string is sent unchanged. */
  readonly body?: unknown
}

/**
 * Makes one HTTP call without livehouse's client, even a GET with a body. Rejects if the connection breaks.
 * @returns the answer as received; `json` is undefined if the body is not JSON
 */
export async function rawCall({ method = 'GET', url, bearer, body }: RawRequest) {
  const payload = Buffer.from(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body))
  const headers = {
    'content-type': 'application/json',
    'content-length': payload.length,
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
  }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request(url, { method, agent: false, headers }).on('error', reject).on('response', resolve).end(payload)
  const response = await promise
  const answer = await text(response)
  return { status: response.statusCode ?? 0, headers: response.headers, text: answer, json: parse(answer) }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
