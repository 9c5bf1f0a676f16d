/** Whether a host name or address, with or without brackets, is a loopback one, which other machines cannot reach. */
export function isLoopback(host: string): boolean {
  return (
    ['localhost', '::1', '[::1]'].includes(host.toLowerCase()) || /^127(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(host)
  )
}
