import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Clock } from '../core/clock.ts'
import type { Log } from '../core/log.ts'
import { isLoopback } from '../core/loopback.ts'
import { type Reply, redirectReply, textReply } from './reply.ts'

/** Decides who may see the page and act from it. */
export type Access = ReturnType<typeof createAccess>

const MAX_LOGGED_PER_MINUTE = 10
const MINUTE_MS = 60_000
const SESSION_COOKIE = 'livehouse_session'

/** @param token `LIVEHOUSE_HTTP_TOKEN`; may be undefined only for a server that listens on loopback alone */
export function createAccess(token: string | undefined, { clock, log }: { clock: Clock; log: Log }) {
  let wrongTimes: number[] = []
  // A hash keyed by the token: the cookie does not reveal the token, and becomes invalid when the token changes.
  const derive = (purpose: string) =>
    token === undefined ? undefined : createHmac('sha256', token).update(`livehouse ${purpose}`).digest('hex')
  const [session, csrf] = [derive('session'), derive('form')]
  return {
    /**
     * Whether requests for this host are answered. Without a token only for loopback, as another site could point its
     * own name here to read the page (DNS rebinding); with a token for any, as reverse proxies pass on other names.
     */
    isHostKnown: (host: string | undefined): boolean =>
      token !== undefined || isLoopback((host ?? '').replace(/:\d+$/, '')),
    /** Whether a request has the token or the session cookie; always, without a token. */
    isAllowed: (authorization: string | undefined, cookies: ReadonlyMap<string, string>): boolean =>
      token === undefined ||
      isEqual(/^Bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1] ?? '', token) ||
      isEqual(cookies.get(SESSION_COOKIE) ?? '', session ?? ''),
    isToken: (text: string): boolean => token !== undefined && isEqual(text, token),
    /** Logs a wrong token. A client that keeps guessing fills no log, and keeps nobody out. `from`: its address */
    logWrongToken: (from: string | undefined): void => {
      wrongTimes = wrongTimes.filter((atMs) => clock.now() - atMs < MINUTE_MS)
      if (wrongTimes.length >= MAX_LOGGED_PER_MINUTE) return
      wrongTimes.push(clock.now())
      log.warn('http.tokenRefused', { from, wrongWithinMinute: wrongTimes.length })
    },
    /** The value of the session cookie; undefined without a token. */
    session,
    /** The secret that forms carry, so that no other site can send them; without a token there are no such forms. */
    csrf,
    /** Whether a form carries that secret and, as far as the browser tells, was sent from this site. */
    isOurForm: (headers: IncomingHttpHeaders, secret: string): boolean => {
      const isOwnSite = [undefined, 'same-origin', 'none'].includes(headers['sec-fetch-site'])
      return isOwnSite && csrf !== undefined && isEqual(secret, csrf)
    },
  }
}

/** Compares in constant time, so that timing reveals nothing about `expected`; false if that is empty. */
function isEqual(actual: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(actual), digest(expected)) && expected !== ''
}

/** Cookies by name, as a browser sends them (RFC 6265, 4.2.1). */
export function readCookies(header: string | undefined): ReadonlyMap<string, string> {
  const pairs = (header ?? '').split(';').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=')
    return /^\s*\S+$/.test(name) && value.length > 0 ? [[name.trim(), value.join('=').trim()] as const] : []
  })
  return new Map(pairs)
}

const MAX_FORM_BYTES = 4096
const MONTH_SECONDS = 30 * 86_400

/** Checks the token of the login form: sets the session cookie, or shows the form once more (`again`). */
export async function answerLogin(
  access: Access,
  request: IncomingMessage,
  again: (next: string) => Reply,
): Promise<Reply> {
  const form = await readForm(request)
  if (form === undefined) return textReply(413, 'the form is too large')
  const next = safePath(form.get('next') ?? '/')
  if (!access.isToken(form.get('token')?.trim() ?? '')) {
    access.logWrongToken(request.socket.remoteAddress)
    return again(next)
  }
  // Behind a TLS proxy, browsers must never send the cookie without TLS.
  const isSecure = request.headers['x-forwarded-proto'] === 'https'
  const attributes = `Path=/; Max-Age=${MONTH_SECONDS}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  return redirectReply(next, { 'set-cookie': `${SESSION_COOKIE}=${access.session}; ${attributes}` })
}

/** Returns the path if it is a page of this site, else `/`: browsers take `//host` and `/\host` for another site. */
function safePath(path: string): string {
  const url = URL.parse(path, 'http://localhost')
  // `/.//host` is normalized to a path that begins with two slashes.
  const isOurs = path.startsWith('/') && url?.host === 'localhost' && !url.pathname.startsWith('//')
  return isOurs && !/^\/(login$|actions\/)/.test(url.pathname) ? url.pathname + url.search : '/'
}

/** Reads the fields of a form; undefined if the body is larger than any form of the page. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  const body: AsyncIterable<Buffer> = request
  for await (const chunk of body) {
    length += chunk.byteLength
    if (length > MAX_FORM_BYTES) return undefined
    chunks.push(chunk)
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
}
