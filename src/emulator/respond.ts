import type { ServerResponse } from 'node:http'
import type { Clock } from '../core/clock.ts'
import type { Answer, ListBody } from './answer.ts'
import type { PageCache } from './page-cache.ts'

interface Means {
  readonly clock: Clock
  readonly cache: PageCache
  /** Opens what ends a wait: the client has gone or the emulator stops. */
  readonly openSignal: () => AbortSignal
}

/** Sends an answer the way its delivery says; a hanging one is left to the client or to the emulator's end. */
export async function respond(
  response: ServerResponse,
  answer: Answer,
  { clock, cache, openSignal }: Means,
): Promise<void> {
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
  switch (delivery.kind) {
    case 'whole':
      response.end(body)
      return
    case 'cut':
      response.write(body.subarray(0, Math.floor(body.length * delivery.share)), () => response.destroy())
      return
    case 'drip': {
      const signal = openSignal()
      for (let sent = 0; sent < body.length && !signal.aborted; sent += delivery.bytes) {
        response.write(body.subarray(sent, sent + delivery.bytes))
        await clock.sleep(delivery.everyMs, signal)
      }
      response.end()
    }
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
