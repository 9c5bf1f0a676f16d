import type { IncomingMessage } from 'node:http'
import { type Access, SESSION_COOKIE } from './access.ts'
import { type Reply, redirectReply, textReply } from './reply.ts'

const MOST_BYTES = 4096
const MONTH_SECONDS = 30 * 86_400

/** Takes the token of the form and answers with the cookie, or with the form again (`again`, for that next path). */
export async function answerLogin(
  access: Access,
  request: IncomingMessage,
  again: (next: string) => Reply,
): Promise<Reply> {
  if (access.isExhausted()) {
    return textReply(429, 'too many wrong tokens came within a minute; wait for one', { 'retry-after': '60' })
  }
  const form = await readForm(request)
  if (form === undefined) return textReply(413, 'this is not the form')
  const next = safePath(form.get('next') ?? '/')
  if (!access.isToken(form.get('token')?.trim() ?? '')) {
    access.refuse(request.socket.remoteAddress)
    return again(next)
  }
  // Behind a proxy that speaks TLS the cookie never travels without it.
  const isSecure = request.headers['x-forwarded-proto'] === 'https'
  const attributes = `Path=/; Max-Age=${MONTH_SECONDS}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  return redirectReply(next, { 'set-cookie': `${SESSION_COOKIE}=${access.session}; ${attributes}` })
}

/** A page of ours, and no other site: `//host` and `/\host` are addresses of others. */
function safePath(path: string): string {
  const url = URL.parse(path, 'http://localhost')
  // A path may come out of the dots of `/.//host` with two strokes at its head.
  const isOurs = path.startsWith('/') && url?.host === 'localhost' && !url.pathname.startsWith('//')
  return isOurs && url.pathname !== '/login' ? url.pathname + url.search : '/'
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  const body: AsyncIterable<Buffer> = request
  for await (const chunk of body) {
    length += chunk.byteLength
    if (length > MOST_BYTES) return undefined
    chunks.push(chunk)
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
}
