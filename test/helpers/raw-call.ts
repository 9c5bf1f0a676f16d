import { request } from 'node:http'

/** An answer as it came off the socket; `json` is undefined where the body is no JSON. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly json: unknown
}

export interface RawRequest {
  readonly method?: string
  readonly url: string
  readonly bearer?: string | undefined
  /** Sent as JSON; a text is sent as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** Makes one HTTP call without any client of ours; also a GET with a body. Rejects when the connection breaks. */
export async function rawCall({ method = 'GET', url, bearer, body, headers, signal }: RawRequest): Promise<RawAnswer> {
  const payload = Buffer.from(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body))
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>()
  const outgoing = request(url, {
    method,
    agent: false,
    ...(signal ? { signal } : {}),
    headers: {
      'content-type': 'application/json',
      'content-length': payload.length,
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
  })
  outgoing.on('error', reject)
  outgoing.on('response', (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) })
    })
  })
  outgoing.end(payload)
  return promise
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
