import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

/** One request as the service saw it. */
export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: IncomingMessage['headers']
  /** Parsed JSON; undefined if empty. */
  readonly body: unknown
}

/** What to answer: a status, headers and a text (or JSON), or full control of the response. */
export interface ScriptedAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
  readonly text?: string
  readonly raw?: (response: ServerResponse) => void
}

export type Script = (request: SeenRequest, index: number) => ScriptedAnswer | Promise<ScriptedAnswer>

/** Starts a real server on loopback that answers as the test's script says. */
export async function startScriptedService(script: Script) {
  const requests: SeenRequest[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', 'http://service')
    const body = await text(request)
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      body: body === '' ? undefined : JSON.parse(body),
    }
    requests.push(seen)
    const { status = 200, headers = {}, json, text: plain, raw } = await script(seen, requests.length - 1)
    if (raw) return raw(response)
    // Real time must not mix with a test's clock: a test that needs a Date header scripts it.
    response.sendDate = false
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(plain ?? JSON.stringify(json))
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert(typeof address === 'object' && address !== null)
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
