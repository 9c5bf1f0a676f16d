import type { IncomingMessage } from 'node:http'
import type { Incoming } from './service.ts'

/** Reads a request whole. */
export async function readRequest(request: IncomingMessage): Promise<Incoming> {
  const text = await readText(request)
  const [path = '', query = ''] = (request.url ?? '').split('?', 2)
  return {
    method: request.method ?? '',
    path,
    query: query === '' ? {} : Object.fromEntries(new URLSearchParams(query)),
    contentType: request.headers['content-type'] ?? '',
    authorization: request.headers.authorization ?? '',
    text,
  }
}

/** By events: an async iterator costs more than all else that a page needs. */
function readText(request: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => {
    text += chunk
  })
  request.on('end', () => resolve(text))
  request.on('error', reject)
  return promise
}
