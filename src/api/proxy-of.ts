import type { HttpOptions } from './http.ts'

/**
 * The proxy that calls to an address go through; null where they go straight. By undici's rules for NO_PROXY: names with
 * everything below them, `*.name` for only what is below, an optional port, `*` for all.
 */
export function proxyOf(address: string, { http, https, none }: HttpOptions['proxies']): string | null {
  const { protocol, hostname, port } = new URL(address)
  const host = plain(hostname)
  const number = Number(port) || (protocol === 'https:' ? 443 : 80)
  const isExcepted = (none ?? '').split(/[,\s]+/).some((entry) => entry !== '' && matches(entry, host, number))
  if (isExcepted) return null
  return protocol === 'https:' ? (https ?? http) : http
}

function matches(entry: string, host: string, port: number): boolean {
  const [, name = '', entryPort] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [undefined, entry]
  if (entryPort !== undefined && Number(entryPort) !== port) return false
  if (name === '*') return true
  const suffix = plain(name.replace(/^\*?\./, ''))
  return host.endsWith(`.${suffix}`) || (host === suffix && !name.startsWith('*'))
}

/** Without the brackets of IPv6 and the dot that a full name may end with. */
function plain(host: string): string {
  return host
    .replace(/^\[(.+)\]$/, '$1')
    .replace(/(.)\.$/, '$1')
    .toLowerCase()
}
