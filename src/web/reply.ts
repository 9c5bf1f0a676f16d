import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** The headers of every reply: pages load nothing from other sites, send nothing to them, and cannot be framed. */
const safeHeaders: OutgoingHttpHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** An HTTP reply with its body. */
export interface Reply {
  readonly status: number
  readonly contentType: string
  readonly body: string | Buffer
  readonly headers?: OutgoingHttpHeaders
}

export function textReply(status: number, text: string, headers: OutgoingHttpHeaders = {}): Reply {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${text}\n`, headers }
}

export function jsonReply(status: number, value: unknown): Reply {
  return { status, contentType: 'application/json; charset=utf-8', body: `${JSON.stringify(value)}\n` }
}

/** Redirects to another page of this site. */
export function redirectReply(location: string, headers: OutgoingHttpHeaders = {}): Reply {
  return textReply(303, location, { ...headers, location })
}

/** Sends a reply, without its body for a HEAD request. */
export function send(response: ServerResponse, { status, contentType, body, headers }: Reply, isHead: boolean): void {
  // Disconnects a client that takes nothing for 5 s. Otherwise such clients would use up the connections.
  response.setTimeout(5000)
  response.writeHead(status, {
    ...safeHeaders,
    'cache-control': 'no-store',
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(isHead ? undefined : body)
}
