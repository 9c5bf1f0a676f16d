import { type ErrorCode, LivehouseError } from '../../core/errors.ts'

/**
 * Called with the result of each check as soon as it is done. `skipped`: not possible, or not needed. `finding`: what
 * the check found, never a secret. `repair`: what to do, unless nothing is wrong or `finding` says it.
 */
export type Report = (
  name: string,
  result: 'ok' | 'failed' | 'warning' | 'skipped',
  finding: string,
  repair?: string,
) => void

/** Reports an error as a failed check. @throws the error if it is a bug; the signal's reason if that has aborted */
export function reportFailure(report: Report, name: string, error: unknown, signal: AbortSignal): void {
  signal.throwIfAborted()
  if (!(error instanceof LivehouseError)) throw error
  const code: ErrorCode = error.code
  report(name, 'failed', error.message, repairs[code])
}

const SUPPORT = "ask the service's support, with this message"

/** What to do about errors of the service whose message does not say it. */
const repairs: Readonly<Partial<Record<ErrorCode, string>>> = {
  'api.unreachable':
    'check the address, network and firewall, and HTTPS_PROXY, HTTP_PROXY, NO_PROXY; NODE_EXTRA_CA_CERTS names an ' +
    'authority of your own',
  'api.timeout': 'check the address and the network; where the service is only slow, raise LIVEHOUSE_REQUEST_TIMEOUT',
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
