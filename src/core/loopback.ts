/** Whether a host name or an address, with or without brackets, is this machine's own and out of reach of others. */
export function isLoopback(host: string): boolean {
  return (
    ['localhost', '::1', '[::1]'].includes(host.toLowerCase()) || /^127(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(host)
  )
}
