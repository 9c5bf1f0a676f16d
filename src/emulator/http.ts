import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Answer } from './answer.ts'

/** The parts of a request that endpoints read. */
export type Incoming = Awaited<ReturnType<typeof readRequest>>

/** Reads a request. Through a proxy, its target is a whole URL (RFC 9112, 3.2.2). */
export async function readRequest(request: IncomingMessage) {
  const body = await text(request)
  const [path = '', query = ''] = (request.url ?? '').replace(/^http:\/\/[^/]*/, '').split('?', 2)
  return {
    method: request.method ?? '',
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    contentType: request.headers['content-type'] ?? '',
    authorization: request.headers.authorization ?? '',
    text: body,
  }
}

/** Sends an answer, or fails to, as its `delivery` says. */
export function respond(response: ServerResponse, answer: Answer, pages: PageCache): void {
  const { delivery } = answer
  if (delivery.kind === 'hang') return
  if (delivery.kind === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  const body = renderBody(answer, pages)
  const contentType = answer.body.kind === 'text' ? answer.body.contentType : 'application/json'
  response.writeHead(answer.status, {
    'content-type': `${contentType}; charset=utf-8`,
    'content-length': body.length,
    ...answer.headers,
  })
  if (delivery.kind === 'cut') {
    response.write(body.subarray(0, Math.floor(body.length * delivery.share)), () => response.destroy())
  } else {
    response.end(body)
  }
}

function renderBody({ body }: Answer, pages: PageCache): Buffer {
  switch (body.kind) {
    case 'text':
      return Buffer.from(body.text)
    case 'json':
      return Buffer.from(JSON.stringify(body.value) ?? '')
    case 'list':
      return pages(body.cacheKey, () => Buffer.from(JSON.stringify(body.envelope(body.items(), body.total))))
  }
}

/** Returns the body that is cached under this key, or else what `render` returns. Without a key, nothing is cached. */
export type PageCache = (key: string | undefined, render: () => Buffer) => Buffer
