import { proxyOf } from '../../api/proxy-of.ts'
import type { ServiceSettings } from '../../config.ts'
import type { CliContext } from '../command.ts'
import type { ReportCheck } from './check.ts'
import { checkCertificate } from './check-certificate.ts'
import { checkName, resolveName } from './check-name.ts'
import { checkProxy } from './check-proxy.ts'

const variables = { base: 'LIVEHOUSE_BASE_URL', auth: 'LIVEHOUSE_AUTH_URL' } as const

/** The way to one of the two addresses, before anything is asked there: proxy, name, certificate. */
export async function checkNetwork(
  { clock, signal }: CliContext,
  host: 'base' | 'auth',
  address: string,
  settings: ServiceSettings,
  report: ReportCheck,
): Promise<void> {
  const proxy = proxyOf(address, settings.proxies)
  report(await checkProxy(`${host} proxy`, address, settings, signal))
  report(await checkName(`${host} DNS`, address, { variable: variables[host], proxy, resolve: resolveName }))
  const options = { proxy, nowMs: clock.now(), timeoutMs: settings.requestTimeoutMs, signal }
  report(await checkCertificate(`${host} TLS`, address, options))
}
