import type { IncomingMessage } from 'node:http'
import type { Incoming } from './service.ts'

/** Reads a request whole. */
export async function readRequest(request: IncomingMessage): Promise<Incoming> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  const [path = '', query = ''] = (request.url ?? '').split('?', 2)
  return {
    method: request.method ?? '',
    path,
    query: query === '' ? {} : Object.fromEntries(new URLSearchParams(query)),
    contentType: request.headers['content-type'] ?? '',
    authorization: request.headers.authorization ?? '',
    text: Buffer.concat(chunks).toString('utf8'),
  }
}
