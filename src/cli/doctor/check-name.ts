import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type Check, passed, skipped } from './check.ts'

/** The addresses of a name; fails with an error that has a code. */
export type Resolve = (host: string) => Promise<readonly string[]>

export const resolveName: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)

/** Whether the name in an address resolves. `variable`: the setting that it comes from. */
export async function checkName(
  name: string,
  address: string,
  { variable, proxy, resolve }: { readonly variable: string; readonly proxy: string | null; readonly resolve: Resolve },
): Promise<Check> {
  const host = new URL(address).hostname.replace(/^\[(.+)\]$/, '$1')
  if (proxy !== null) return skipped(name, 'not asked: the proxy looks the name up')
  if (isIP(host) !== 0) return skipped(name, `not asked: ${host} is an address`)
  try {
    return passed(name, `${host} is ${(await resolve(host)).join(', ')}`)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no reason given'
    const mend =
      code === 'ENOTFOUND'
        ? `check the name in ${variable}; a name that only the company knows needs its network or VPN`
        : 'check the network, and the name server that this machine asks (/etc/resolv.conf)'
    return { name, result: 'failed', seen: `${host} does not resolve (${code})`, mend }
  }
}
