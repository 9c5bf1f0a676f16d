import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Clock } from '../core/clock.ts'
import type { Answer, ListBody } from './answer.ts'
import type { Params } from './params.ts'

/** A request, as far as an endpoint looks at it. */
export interface Incoming {
  readonly method: string
  readonly path: string
  readonly query: Params
  readonly contentType: string
  readonly authorization: string
  /** The body as it came. */
  readonly text: string
}

/** Reads a request whole. */
export async function readRequest(request: IncomingMessage): Promise<Incoming> {
  const body = await text(request)
  const [path = '', query = ''] = (request.url ?? '').split('?', 2)
  return {
    method: request.method ?? '',
    path,
    query: query === '' ? {} : Object.fromEntries(new URLSearchParams(query)),
    contentType: request.headers['content-type'] ?? '',
    authorization: request.headers.authorization ?? '',
    text: body,
  }
}

interface Means {
  readonly clock: Clock
  readonly cache: PageCache
}

/** Sends an answer the way its delivery says; a hanging one is left to the client or to the emulator's end. */
export function respond(response: ServerResponse, answer: Answer, { clock, cache }: Means): void {
  const { delivery } = answer
  if (delivery.kind === 'hang') return
  if (delivery.kind === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  const body = renderBody(answer, cache)
  response.writeHead(answer.status, {
    date: new Date(clock.now()).toUTCString(),
    'content-type': contentTypeOf(answer),
    'content-length': body.length,
    ...answer.headers,
  })
  if (delivery.kind === 'cut') {
    response.write(body.subarray(0, Math.floor(body.length * delivery.share)), () => response.destroy())
  } else {
    response.end(body)
  }
}

function renderBody({ body }: Answer, cache: PageCache): Buffer {
  switch (body.kind) {
    case 'text':
      return Buffer.from(body.text)
    case 'json':
      return Buffer.from(JSON.stringify(body.value) ?? '')
    case 'list':
      return renderList(body, cache)
  }
}

function renderList(list: ListBody, cache: PageCache): Buffer {
  const known = list.cacheKey === undefined ? undefined : cache.get(list.cacheKey)
  if (known) return known
  const rendered = Buffer.from(JSON.stringify(list.envelope(list.items(), list.total)))
  if (list.cacheKey !== undefined) cache.set(list.cacheKey, rendered)
  return rendered
}

function contentTypeOf({ body }: Answer): string {
  return body.kind === 'text' ? `${body.contentType}; charset=utf-8` : 'application/json; charset=utf-8'
}

/** Bodies of pages by what they depend on; the least recently used ones give way. */
export interface PageCache {
  readonly get: (key: string) => Buffer | undefined
  readonly set: (key: string, body: Buffer) => void
}

export function createPageCache(maxBytes: number): PageCache {
  const bodies = new Map<string, Buffer>()
  let bytes = 0
  return {
    get: (key) => {
      const body = bodies.get(key)
      if (!body) return undefined
      bodies.delete(key)
      bodies.set(key, body)
      return body
    },
    set: (key, body) => {
      bodies.set(key, body)
      bytes += body.length
      for (const [oldest, dropped] of bodies) {
        if (bytes <= maxBytes) return
        bodies.delete(oldest)
        bytes -= dropped.length
      }
    },
  }
}
