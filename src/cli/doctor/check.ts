import { type ErrorCode, LivehouseError } from '../../core/errors.ts'

/** One thing that the doctor looked at. */
export interface Check {
  readonly name: string
  /** `skipped`: it could not be looked at, or need not be. */
  readonly result: 'ok' | 'failed' | 'warning' | 'skipped'
  /** What was seen; never a secret. */
  readonly seen: string
  /** How to mend it; null where nothing is wrong, or where `seen` says it. */
  readonly mend: string | null
}

/** Takes each check as soon as it is done. */
export type ReportCheck = (check: Check) => void

export function passed(name: string, seen: string): Check {
  return { name, result: 'ok', seen, mend: null }
}

export function skipped(name: string, seen: string): Check {
  return { name, result: 'skipped', seen, mend: null }
}

/** What an error says of the thing that was looked at. @throws the error again when it is a bug or an interruption */
export function failed(name: string, error: unknown, signal: AbortSignal): Check {
  signal.throwIfAborted()
  if (!(error instanceof LivehouseError)) throw error
  return { name, result: 'failed', seen: error.message, mend: mendingOf(error.code) }
}

const SUPPORT = "ask the service's support, with this message"

/** What to do about an error of the service. Messages of settings, refused credentials and the database say it themselves. */
const mendings: Readonly<Partial<Record<ErrorCode, string>>> = {
  'api.unreachable':
    'check the address, the network and its firewall, and the proxy settings (HTTPS_PROXY, HTTP_PROXY, NO_PROXY); a certificate of an authority of your own is named in NODE_EXTRA_CA_CERTS',
  'api.timeout': 'check the address and the network; where the service is only slow, raise LIVEHOUSE_REQUEST_TIMEOUT',
  'api.unauthorized':
    'check the token in LIVEHOUSE_API_TOKEN, or set LIVEHOUSE_APP_ID, LIVEHOUSE_APP_SECRET and LIVEHOUSE_AUTH_URL in its place',
  'api.forbidden':
    "ask the service's support to open this interface for the account, or leave its stream out with sync --streams",
  'api.channelUnknown': 'check LIVEHOUSE_CHANNELS: it takes the numbers of channels of this account, not hash ids',
  'api.rateLimited': 'lower LIVEHOUSE_MAX_CALLS_PER_SECOND; others may be using the account right now',
  'api.badBody': 'check that the address is that of the data interface and not of a web page',
  'api.badShape': `check that the address is that of the data interface; if it is, ${SUPPORT}`,
  'api.status': SUPPORT,
  'api.refused': SUPPORT,
  'api.bodyRefused': SUPPORT,
  'paging.ignored': 'set LIVEHOUSE_LIST_PARAMS to the other of query and body',
}

/** One instruction; null where the message itself says what to do. */
function mendingOf(code: ErrorCode): string | null {
  return mendings[code] ?? null
}
