import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { Dispatcher, EnvHttpProxyAgent } from 'undici'
import methods from 'undici/lib/api/index.js'
import Base from 'undici/lib/dispatcher/dispatcher.js'
import Agent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import { callIfStillRunning, orAborted, whenAborted } from '../core/clock.ts'
import { codeOf, LivehouseError, messageOf } from '../core/errors.ts'
import type { CallContext } from '../core/page.ts'
import type { Call, Redact } from './send.ts'

// undici's index does the same, but also loads fetch, web sockets, caches and mocks: 50 ms and 13 MB of every start.
Object.assign(Base.prototype, methods)

/** undici frees a connection a moment after its answer came; the next call needs another one until then. */
const SPARE_CONNECTIONS = 2
const MAX_BODY_BYTES = 32 * 1024 * 1024

export interface HttpOptions {
  /** The two addresses of the spec, without a trailing slash. */
  readonly baseUrl: string
  readonly authUrl: string | null
  /** Most simultaneous calls to one host. */
  readonly concurrency: number
  /** For the headers, for each pause within the body, and for the whole call. */
  readonly timeoutMs: number
  readonly proxies: Proxies
  readonly redact: Redact
  /** Largest body; 32 MiB unless a test asks for less. */
  readonly maxBodyBytes?: number
}

/** The parts of a call that are sent, and its name for messages. */
export type WireCall = Pick<Call, 'name' | 'method' | 'host' | 'path' | 'query' | 'body' | 'bearer'>

/** An answer as it came, whatever its status. */
export interface RawAnswer {
  readonly status: number
  readonly text: string
  /** Why `text` is not what was sent: its bytes are not of their charset. */
  readonly garbled?: string | undefined
  /** Every header, by its name in small letters. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export type Http = ReturnType<typeof createHttp>

/**
 * Owns the connections to the service. Proxies come from the options only, redirects are not followed, and bodies are
 * asked for uncompressed; of those that come compressed all the same, the cap counts what they unpack to.
 */
export function createHttp(options: HttpOptions) {
  const dispatcher = createAgent(options, {
    connections: options.concurrency + SPARE_CONNECTIONS,
    // A GET with a body (API 4.10) is plain HTTP/1.1.
    allowH2: false,
  })
  return {
    /** One request on the wire: no retry, no judgement of the answer. */
    exchange: async (call: WireCall, { signal, onAttempt }: CallContext): Promise<RawAnswer> => {
      signal.throwIfAborted()
      const url = new URL((call.host === 'auth' ? (options.authUrl ?? '') : options.baseUrl) + call.path)
      for (const [name, value] of Object.entries(call.query ?? {})) {
        if (value !== undefined) url.searchParams.set(name, value)
      }
      const limit = new AbortController()
      const stopListening = whenAborted(signal, () => limit.abort())
      // undici limits only pauses, not an answer that trickles in. By the real clock, as sockets use it.
      const cancelTimer = callIfStillRunning(options.timeoutMs, () => limit.abort())
      const received = { bytes: 0, hasHeaders: false }
      try {
        onAttempt?.(1)
        const asked = dispatcher.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: call.method,
          signal: limit.signal,
          headers: {
            accept: 'application/json',
            'accept-encoding': 'identity',
            'content-type': 'application/json',
            'user-agent': 'livehouse',
            ...(call.bearer === undefined ? {} : { authorization: `Bearer ${call.bearer}` }),
          },
          ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
        })
        // undici sees an abort only once a request is on its connection, which a proxy may be slow to give.
        const response = await orAborted(asked, limit.signal)
        received.hasHeaders = true
        const { headers, statusCode, body } = response
        const bytes = await readBody(call, response, options, received).catch((error: unknown) => {
          // An unread body would keep its connection; a destroyed one emits an error.
          body.on('error', () => {}).destroy()
          throw error
        })
        return { status: statusCode, ...decodeBody(bytes, headerOf(response, 'content-type')), headers }
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof LivehouseError) throw error
        throw translate(options, call, error, { ...received, isLate: limit.signal.aborted, url })
      } finally {
        cancelTimer()
        stopListening()
      }
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  }
}

/** Proxies by scheme, and the hosts that need none, as the environment variables spell them; null for none. */
interface Proxies {
  readonly http: string | null
  readonly https: string | null
  readonly none: string | null
}

export type AgentOptions = Pick<HttpOptions, 'proxies' | 'timeoutMs'>

/** Keeps connections to every host. The time-out is for each to be made, for headers, and for each pause in a body. */
export function createAgent({ proxies, timeoutMs }: AgentOptions, more: EnvHttpProxyAgent.Options): EnvHttpProxyAgent {
  const { http, https, none } = proxies
  const timeouts = { connectTimeout: timeoutMs, headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
  // Asks a proxy for tunnels; undici's own would wait 300 s for each.
  const clientFactory = (proxy: URL, own: object) => new Pool(proxy, { ...timeouts, ...own })
  // Empty text, not undefined: undici would read the environment.
  const named = { httpProxy: http ?? '', httpsProxy: https ?? '', noProxy: none ?? '' }
  return new Agent({ ...more, ...timeouts, clientFactory, ...named })
}

/** Of the encodings of bodies (RFC 9110, 8.4.1) those that a proxy may add unasked. */
const unpackers = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])

async function readBody(
  call: WireCall,
  response: Dispatcher.ResponseData,
  { redact, maxBodyBytes = MAX_BODY_BYTES }: HttpOptions,
  received: { bytes: number },
): Promise<Buffer> {
  const refuse = (reason: string): LivehouseError =>
    new LivehouseError('api.bodyRefused', `${call.name}: ${reason}`, { call: call.name })
  const tooLarge = `the body is larger than ${maxBodyBytes} bytes`
  const encoding = headerOf(response, 'content-encoding')?.trim().toLowerCase() ?? ''
  const unpack = unpackers.get(encoding)
  if (unpack === undefined && encoding !== '' && encoding !== 'identity')
    throw refuse(`the body came in the encoding "${redact(encoding)}", although it was asked for unencoded`)
  const chunks: Uint8Array[] = []
  const body: AsyncIterable<Uint8Array> = response.body
  for await (const chunk of body) {
    chunks.push(chunk)
    received.bytes += chunk.byteLength
    if (received.bytes > maxBodyBytes) throw refuse(tooLarge)
  }
  const packed = Buffer.concat(chunks)
  if (unpack === undefined || packed.length === 0) return packed
  return await unpack(packed, { maxOutputLength: maxBodyBytes }).catch((error: unknown) => {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw refuse(tooLarge)
    const message = `${call.name}: the body cannot be unpacked as ${encoding}`
    throw new LivehouseError('api.badBody', message, { call: call.name })
  })
}

/**
 * JSON is UTF-8 (RFC 8259, 8.1) unless another charset is declared. Latin-1 counts as not declared: servers declare it
 * by default, every byte is valid in it, and it has no Chinese characters. Nor is valid UTF-8 that has some of another.
 */
function decodeBody(bytes: Buffer, contentType = ''): Pick<RawAnswer, 'text' | 'garbled'> {
  const declared = charsetOf(/;\s*charset\s*=\s*["']?([^\s;,"']+)/i.exec(contentType)?.[1] ?? 'utf-8')
  const isOther = declared !== 'utf-8' && isUtf8(bytes) && /\p{Script=Han}/u.test(bytes.toString())
  const charset = isOther ? 'utf-8' : declared
  try {
    return { text: new TextDecoder(charset, { fatal: true }).decode(bytes) }
  } catch {
    const text = new TextDecoder(charset).decode(bytes)
    const reason = `text that is not valid ${charset} at character ${text.indexOf('\uFFFD') + 1} of ${text.length}`
    return { text, garbled: `${reason} (content-type: ${contentType || 'none'})` }
  }
}

/** A name that `TextDecoder` knows; UTF-8 for one that it does not, such as a database's `utf8mb4`. */
function charsetOf(declared: string): string {
  if (/^(us-ascii|ascii|latin-?1|iso-8859-1|windows-1252)$/i.test(declared)) return 'utf-8'
  if (/^(cp|ms)936$/i.test(declared)) return 'gbk'
  try {
    return new TextDecoder(declared).encoding
  } catch {
    return 'utf-8'
  }
}

/** undici's errors may carry addresses, headers and bodies: only their code and a redacted message go on. */
function translate(
  { redact, timeoutMs }: HttpOptions,
  call: WireCall,
  error: unknown,
  seen: { readonly bytes: number; readonly hasHeaders: boolean; readonly isLate: boolean; readonly url: URL },
): LivehouseError {
  const code = codeOf(error)
  const cause = new Error(
    redact(`${code === '' ? 'error' : code}: ${messageOf(error).replaceAll(seen.url.search || '\0', '')}`),
  )
  if (seen.isLate || /_TIMEOUT$|ETIMEDOUT/.test(code)) {
    const message = `${call.name}: no complete answer within ${timeoutMs / 1000} s`
    return new LivehouseError('api.timeout', message, { call: call.name }, { cause })
  }
  if (seen.hasHeaders) {
    const reason = `the body was cut after ${seen.bytes} bytes`
    return new LivehouseError('api.badBody', `${call.name}: ${reason}`, { call: call.name }, { cause })
  }
  const reason = code === '' ? cause.message : code
  const setting = call.host === 'auth' ? 'LIVEHOUSE_AUTH_URL' : 'LIVEHOUSE_BASE_URL'
  const message = `${call.name}: no connection to the address in ${setting}, ${redact(seen.url.origin)} (${reason})`
  return new LivehouseError('api.unreachable', message, { call: call.name }, { cause })
}

/** A header as written, the first of several; by its name in small letters. */
export function headerOf({ headers }: Pick<RawAnswer, 'headers'>, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
