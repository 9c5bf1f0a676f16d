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

/** undici frees a connection shortly after its answer has arrived; until then the next call needs another one. */
const SPARE_CONNECTIONS = 2
const MAX_BODY_BYTES = 32 * 1024 * 1024

export interface HttpOptions {
  /** The two addresses of the spec, without a trailing slash. */
  readonly baseUrl: string
  readonly authUrl: string | null
  /** The most simultaneous calls to one host. */
  readonly concurrency: number
  /** Limits the wait for headers, each pause within the body, and the whole call. */
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
  /** Why `text` differs from what was sent: some bytes are invalid in the charset. */
  readonly garbled?: string | undefined
  /** All headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export type Http = ReturnType<typeof createHttp>

/**
 * Creates the HTTP client of the service, which owns its connections. Proxies come from the options only, redirects are
 * not followed, and bodies are requested uncompressed; if one is compressed anyway, the cap counts its unpacked size.
 */
export function createHttp(options: HttpOptions) {
  const dispatcher = createAgent(options, {
    connections: options.concurrency + SPARE_CONNECTIONS,
    // A GET with a body (API 4.10) is plain HTTP/1.1.
    allowH2: false,
  })
  return {
    /** Makes one request, without retries, and returns any answer, whatever its status. */
    exchange: async (call: WireCall, { signal, onAttempt }: CallContext): Promise<RawAnswer> => {
      signal.throwIfAborted()
      const url = new URL((call.host === 'auth' ? (options.authUrl ?? '') : options.baseUrl) + call.path)
      for (const [name, value] of Object.entries(call.query ?? {})) {
        if (value !== undefined) url.searchParams.set(name, value)
      }
      const limit = new AbortController()
      const stopListening = whenAborted(signal, () => limit.abort())
      // undici limits pauses, but not an answer that trickles in. The timer uses the real clock, as sockets do.
      const cancelTimer = callIfStillRunning(options.timeoutMs, () => limit.abort())
      const received = { bytes: 0, hasHeaders: false }
      try {
        onAttempt?.(1)
        const pendingResponse = dispatcher.request({
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
        // undici notices an abort only when the request has its connection, which a proxy may be slow to open.
        const response = await orAborted(pendingResponse, limit.signal)
        received.hasHeaders = true
        const { headers, statusCode, body } = response
        const bytes = await readBody(call, response, options, received).catch((error: unknown) => {
          // An unread body would keep its connection busy. Destroying it emits an error.
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

/** What HTTP_PROXY, HTTPS_PROXY and NO_PROXY hold; null for none. */
interface Proxies {
  readonly http: string | null
  readonly https: string | null
  readonly none: string | null
}

export type AgentOptions = Pick<HttpOptions, 'proxies' | 'timeoutMs'>

/** Creates a pool of connections. `timeoutMs` limits each connect, the wait for headers, and each pause in a body. */
export function createAgent({ proxies, timeoutMs }: AgentOptions, more: EnvHttpProxyAgent.Options): EnvHttpProxyAgent {
  const { http, https, none } = proxies
  const timeouts = { connectTimeout: timeoutMs, headersTimeout: timeoutMs, bodyTimeout: timeoutMs }
  // The client that opens tunnels through a proxy: undici's own waits 300 s for each.
  const clientFactory = (proxy: URL, own: object) => new Pool(proxy, { ...timeouts, ...own })
  // Empty text for none: if undefined, undici would read the environment.
  const proxyUrls = { httpProxy: http ?? '', httpsProxy: https ?? '', noProxy: none ?? '' }
  return new Agent({ ...more, ...timeouts, clientFactory, ...proxyUrls })
}

/** The content encodings (RFC 9110, 8.4.1) that a proxy may add unasked. */
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
    throw refuse(`the body has the encoding "${redact(encoding)}", although none was requested`)
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
 * JSON is UTF-8 (RFC 8259, 8.1) unless another charset is declared. A declared Latin-1 is ignored: servers send it by
 * default, every byte is valid in it, and it has no Chinese characters. So is any other if the body is UTF-8 with some.
 */
function decodeBody(bytes: Buffer, contentType = ''): Pick<RawAnswer, 'text' | 'garbled'> {
  const declared = charsetOf(/;\s*charset\s*=\s*["']?([^\s;,"']+)/i.exec(contentType)?.[1] ?? 'utf-8')
  const isMislabelled = declared !== 'utf-8' && isUtf8(bytes) && /\p{Script=Han}/u.test(bytes.toString())
  const charset = isMislabelled ? 'utf-8' : declared
  try {
    return { text: new TextDecoder(charset, { fatal: true }).decode(bytes) }
  } catch {
    const text = new TextDecoder(charset).decode(bytes)
    const reason = `text that is not valid ${charset} at character ${text.indexOf('\uFFFD') + 1} of ${text.length}`
    return { text, garbled: `${reason} (content-type: ${contentType || 'none'})` }
  }
}

/** The name by which `TextDecoder` knows a charset; UTF-8 if it knows none, as for a database's `utf8mb4`. */
function charsetOf(declared: string): string {
  if (/^(us-ascii|ascii|latin-?1|iso-8859-1|windows-1252)$/i.test(declared)) return 'utf-8'
  if (/^(cp|ms)936$/i.test(declared)) return 'gbk'
  try {
    return new TextDecoder(declared).encoding
  } catch {
    return 'utf-8'
  }
}

/** Translates undici's errors. They may hold addresses, headers and bodies: only code and redacted message are kept. */
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
    const reason = `the body was cut off after ${seen.bytes} bytes`
    return new LivehouseError('api.badBody', `${call.name}: ${reason}`, { call: call.name }, { cause })
  }
  // undici's own codes say little; it uses one for every refusal of a proxy.
  const reason = code === '' || code.startsWith('UND_ERR_') ? cause.message : code
  const address = `${addressSetting(call)}, ${redact(seen.url.origin)}`
  const message = `${call.name}: no connection to the address in ${address} (${reason})`
  return new LivehouseError('api.unreachable', message, { call: call.name }, { cause })
}

/** The setting that has the address of a call. */
export function addressSetting({ host }: Pick<Call, 'host'>): string {
  return host === 'auth' ? 'LIVEHOUSE_AUTH_URL' : 'LIVEHOUSE_BASE_URL'
}

/** The value of a header, the first of several. @param name in lower case */
export function headerOf({ headers }: Pick<RawAnswer, 'headers'>, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
