/** `host:port/database` of a Postgres URL: what messages name. Never the user's password. */
export function describeTarget(url: string): string {
  if (!URL.canParse(url)) return '(a malformed URL)'
  const { hostname, port, pathname, searchParams } = new URL(url)
  const host = searchParams.get('host') ?? (hostname === '' ? 'localhost' : decodeURIComponent(hostname))
  return `${host}:${searchParams.get('port') ?? (port === '' ? '5432' : port)}${decodeURI(pathname)}`
}
