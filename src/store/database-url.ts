/** `host:port/database` of a Postgres URL: what messages name. Never the user's password. */
export function describeTarget(url: string): string {
  if (!URL.canParse(url)) return '(a malformed URL)'
  const { hostname, port, pathname, searchParams } = new URL(url)
  const host = searchParams.get('host') ?? (hostname === '' ? 'localhost' : decodeURIComponent(hostname))
  return `${host}:${searchParams.get('port') ?? (port === '' ? '5432' : port)}${decodeURI(pathname)}`
}

/** A Postgres URL whose user and password decode: a `%` that stands for no character is taken as it is written. */
export function mendCredentials(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null || (decodes(parsed.username) && decodes(parsed.password))) return url
  parsed.username = mended(parsed.username)
  parsed.password = mended(parsed.password)
  return parsed.href
}

function mended(text: string): string {
  if (decodes(text)) return text
  const strayOnly = text.replaceAll(/%(?![\da-f]{2})/gi, '%25')
  return decodes(strayOnly) ? strayOnly : text.replaceAll('%', '%25')
}

function decodes(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
