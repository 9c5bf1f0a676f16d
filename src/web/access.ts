import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { isLoopback } from '../core/loopback.ts'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type Reply, redirectReply, textReply } from './reply.ts'

/** Who may see the page. */
export type Access = ReturnType<typeof createAccess>

const MOST_WRONG = 10
const MINUTE_MS = 60_000

const SESSION_COOKIE = 'livehouse_session'

/** @param token `LIVEHOUSE_HTTP_TOKEN`; undefined for a page on loopback alone, which needs none */
export function createAccess(token: string | undefined, { clock, log }: { clock: Clock; log: Log }) {
  const wrong = { form: new Array<number>(), bearer: new Array<number>() }
  const recent = (by: keyof typeof wrong) => wrong[by].filter((atMs) => clock.now() - atMs < MINUTE_MS)
  // The cookie does not reveal the token, and is worthless once the token has changed.
  const keyedBy = (purpose: string) =>
    token === undefined ? undefined : createHmac('sha256', token).update(`livehouse ${purpose}`).digest('hex')
  const [session, csrf] = [keyedBy('session'), keyedBy('form')]
  return {
    /**
     * False for a host name that is not loopback, by which another site may reach this page from a browser (DNS
     * rebinding). With a token such a site gains nothing, and reverse proxies pass on names of their own.
     */
    isHostKnown: (host: string | undefined): boolean =>
      token !== undefined || isLoopback((host ?? '').replace(/:\d+$/, '')),
    /** Whether a request carries the token or the cookie; true where there is no token. */
    isAllowed: (authorization: string | undefined, cookies: ReadonlyMap<string, string>): boolean =>
      token === undefined ||
      isEqual(/^Bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1] ?? '', token) ||
      isEqual(cookies.get(SESSION_COOKIE) ?? '', session ?? ''),
    isToken: (given: string): boolean => token !== undefined && isEqual(given, token),
    /** Notes and logs a wrong token. `from`: the address that it came from */
    refuse: (from: string | undefined, by: keyof typeof wrong): void => {
      const before = recent(by)
      // Not thousands of lines.
      if (before.length >= MOST_WRONG) return
      wrong[by] = [...before, clock.now()]
      log.warn('http.tokenRefused', { from, wrongWithinMinute: wrong[by].length })
    },
    /** Whether the form takes no token for now: too many wrong ones came by it within a minute. */
    isExhausted: (): boolean => recent('form').length >= MOST_WRONG,
    /** What a browser keeps in place of the token. */
    session,
    /** A secret that forms carry, so that no other site can send them; undefined without a token: nothing acts then. */
    csrf,
    /** Whether a form carries that secret, and the browser does not say that another site sent it. */
    isOurForm: (headers: IncomingHttpHeaders, given: string): boolean => {
      const isOwnSite = [undefined, 'same-origin', 'none'].includes(headers['sec-fetch-site'])
      return isOwnSite && csrf !== undefined && isEqual(given, csrf)
    },
  }
}

/** Compares in constant time, so that its duration tells nothing of the right text. */
function isEqual(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted)) && wanted !== ''
}

/** Cookies by name, as a browser sends them (RFC 6265, 4.2.1). */
export function readCookies(header: string | undefined): ReadonlyMap<string, string> {
  const pairs = (header ?? '').split(';').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=')
    return /^\s*\S+$/.test(name) && value.length > 0 ? [[name.trim(), value.join('=').trim()] as const] : []
  })
  return new Map(pairs)
}

const MOST_BYTES = 4096
const MONTH_SECONDS = 30 * 86_400

/** Takes the token of the form and answers with the cookie, or with the form again (`again`). */
export async function answerLogin(
  access: Access,
  request: IncomingMessage,
  again: (next: string) => Reply,
): Promise<Reply> {
  if (access.isExhausted())
    return textReply(429, 'too many wrong tokens came within a minute; wait for one', { 'retry-after': '60' })
  const form = await readForm(request)
  if (form === undefined) return textReply(413, 'this is not the form')
  const next = safePath(form.get('next') ?? '/')
  if (!access.isToken(form.get('token')?.trim() ?? '')) {
    access.refuse(request.socket.remoteAddress, 'form')
    return again(next)
  }
  // Behind a proxy with TLS the cookie is never sent without it.
  const isSecure = request.headers['x-forwarded-proto'] === 'https'
  const attributes = `Path=/; Max-Age=${MONTH_SECONDS}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  return redirectReply(next, { 'set-cookie': `${SESSION_COOKIE}=${access.session}; ${attributes}` })
}

/** A path of this site: `//host` and `/\host` would lead to another one. */
function safePath(path: string): string {
  const url = URL.parse(path, 'http://localhost')
  // `/.//host` becomes a path that begins with two slashes.
  const isOurs = path.startsWith('/') && url?.host === 'localhost' && !url.pathname.startsWith('//')
  return isOurs && url.pathname !== '/login' ? url.pathname + url.search : '/'
}

/** The fields of a form; undefined for what is too large to be one of ours. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
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
