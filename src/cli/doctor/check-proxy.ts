import { connect } from 'node:net'
import { proxyOf } from '../../api/proxy-of.ts'
import type { ServiceSettings } from '../../config.ts'
import { type Check, passed, skipped } from './check.ts'

/** Whether the proxy that an address is reached through takes connections; says so where none is used. */
export async function checkProxy(
  name: string,
  address: string,
  { proxies, requestTimeoutMs }: Pick<ServiceSettings, 'proxies' | 'requestTimeoutMs'>,
  signal: AbortSignal,
): Promise<Check> {
  const proxy = proxyOf(address, proxies)
  if (proxy === null) {
    const isSet = proxies.http !== null || proxies.https !== null
    return skipped(name, isSet ? `none for this address (NO_PROXY=${proxies.none ?? ''})` : 'none is set')
  }
  // Neither its user nor its password.
  const { protocol, host, hostname, port } = new URL(proxy)
  const shown = `${protocol}//${host}`
  const number = Number(port) || (protocol === 'https:' ? 443 : 80)
  try {
    await reachPort(hostname.replace(/^\[(.+)\]$/, '$1'), number, requestTimeoutMs, signal)
    return passed(name, `${shown} takes connections`)
  } catch (error) {
    signal.throwIfAborted()
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer'
    const mend = 'check HTTPS_PROXY and HTTP_PROXY; an address that needs none goes into NO_PROXY'
    return { name, result: 'failed', seen: `${shown} takes no connection (${code})`, mend }
  }
}

async function reachPort(host: string, port: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect({ host, port, timeout: timeoutMs })
  const onAbort = (): void => void socket.destroy(new Error('interrupted'))
  signal.addEventListener('abort', onAbort)
  socket.on('connect', resolve)
  socket.on('error', reject)
  socket.on('timeout', () => socket.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })))
  try {
    await promise
  } finally {
    signal.removeEventListener('abort', onAbort)
    socket.destroy()
  }
}
