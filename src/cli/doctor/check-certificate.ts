import { isIP } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { type Check, passed, skipped } from './check.ts'

/** What a server showed of itself. */
export interface SeenCertificate {
  /** OpenSSL's code of what is wrong with it; null where it is accepted. */
  readonly problem: string | null
  /** Milliseconds since 1970. */
  readonly validFrom: number
  readonly validTo: number
  readonly issuer: string
  /** The names that it is for. */
  readonly names: string
  readonly protocol: string
}

const DAY_MS = 86_400_000
/** Renewals run some weeks before; what is left then has not been renewed. */
const WARN_DAYS = 14

/** Whether the certificate of an https address is accepted, and for how long. */
export async function checkCertificate(
  name: string,
  address: string,
  options: {
    readonly proxy: string | null
    readonly nowMs: number
    readonly timeoutMs: number
    readonly signal: AbortSignal
  },
): Promise<Check> {
  const { proxy, nowMs, signal } = options
  if (!address.startsWith('https:')) return skipped(name, 'not looked at: plain http')
  if (proxy !== null) return skipped(name, 'not looked at by itself: the connection goes through the proxy')
  try {
    return judgeCertificate(name, await seeCertificate(new URL(address), options), nowMs)
  } catch (error) {
    signal.throwIfAborted()
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'the connection ended'
    return { name, result: 'failed', seen: `no TLS connection (${code})`, mend: handshakeMending(code) }
  }
}

/** A certificate beside the time. */
export function judgeCertificate(name: string, seen: SeenCertificate, nowMs: number): Check {
  const { problem, validTo, issuer, protocol } = seen
  const until = new Date(validTo).toISOString().slice(0, 10)
  if (problem !== null) {
    const [what, mend] = problemsOf(seen)[problem] ?? [
      `is not accepted (${problem})`,
      `let the service's support see ${problem}`,
    ]
    return { name, result: 'failed', seen: `the certificate ${what}`, mend }
  }
  const text = `accepted: issued by ${issuer}, valid until ${until} (${protocol})`
  if (validTo - nowMs > WARN_DAYS * DAY_MS) return passed(name, text)
  const mend = "tell the service's support that it has not been renewed: after that day nothing can be read"
  return { name, result: 'warning', seen: text, mend }
}

const TRUST =
  'where it is that of a proxy of the company or of an authority of its own, name the authority in a file: NODE_EXTRA_CA_CERTS'

function problemsOf({
  issuer,
  names,
  validFrom,
  validTo,
}: SeenCertificate): Readonly<Record<string, readonly [string, string]>> {
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
  const untrusted = [`is of an authority that is not known here: ${issuer}`, TRUST] as const
  const renew = "check this machine's clock; if it is right, tell the service's support"
  return {
    CERT_HAS_EXPIRED: [`ended on ${day(validTo)}`, renew],
    CERT_NOT_YET_VALID: [`begins on ${day(validFrom)}`, renew],
    DEPTH_ZERO_SELF_SIGNED_CERT: [`is signed by nobody but itself: ${issuer}`, TRUST],
    SELF_SIGNED_CERT_IN_CHAIN: untrusted,
    UNABLE_TO_GET_ISSUER_CERT: untrusted,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['comes without those between it and its authority', TRUST],
    ERR_TLS_CERT_ALTNAME_INVALID: [`is for other names: ${names}`, 'check the address: another server answers there'],
    CERT_REVOKED: ['has been revoked', "tell the service's support"],
  }
}

function handshakeMending(code: string): string {
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|HTTP_REQUEST/.test(code)) {
    return 'no TLS is spoken there: check the port, and whether the address begins with http'
  }
  if (/UNSUPPORTED_PROTOCOL|NO_PROTOCOLS|HANDSHAKE_FAILURE|VERSION/.test(code)) {
    return 'the server speaks no TLS of today (1.2 or newer), or something between here and there takes it apart'
  }
  return 'check the address, the network and its firewall'
}

async function seeCertificate(
  { hostname, port }: URL,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<SeenCertificate> {
  signal.throwIfAborted()
  const host = hostname.replace(/^\[(.+)\]$/, '$1')
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // Looked at whatever is wrong with it; nothing is sent over this connection.
  const server = isIP(host) === 0 ? { servername: host } : {}
  const socket = connect({ host, port: Number(port) || 443, ...server, rejectUnauthorized: false, timeout: timeoutMs })
  const onAbort = (): void => void socket.destroy(new Error('interrupted'))
  signal.addEventListener('abort', onAbort)
  socket.on('secureConnect', resolve)
  socket.on('error', reject)
  socket.on('timeout', () => socket.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })))
  socket.on('close', () => reject(new Error('the connection ended')))
  try {
    await promise
    return certificateOf(socket)
  } finally {
    signal.removeEventListener('abort', onAbort)
    socket.destroy()
  }
}

function certificateOf(socket: TLSSocket): SeenCertificate {
  const { valid_from, valid_to, issuer, subject, subjectaltname } = socket.getPeerCertificate()
  // OpenSSL's code as text, whatever its type says.
  const code: unknown = socket.authorizationError
  return {
    problem: socket.authorized ? null : typeof code === 'string' ? code : 'no reason given',
    validFrom: Date.parse(valid_from),
    validTo: Date.parse(valid_to),
    issuer: textOf(issuer.O) ?? textOf(issuer.CN) ?? 'nobody named',
    names: subjectaltname?.replaceAll(/DNS:|IP Address:/g, '') ?? textOf(subject.CN) ?? 'none',
    protocol: socket.getProtocol() ?? 'TLS',
  }
}

/** A name may be given several times. */
function textOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' && value !== '' ? value : undefined
}
