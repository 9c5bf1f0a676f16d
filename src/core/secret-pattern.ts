import { decodePercent } from './text.ts'

/** In characters. Shorter values are not treated as secrets: to redact them would hide half the log. */
const MIN_SECRET_LENGTH = 4

/**
 * Matches every secret in any encoding of its characters: literal, percent-encoded in either case (RFC 3986), `+` for a
 * space (form encoding), or JSON escapes. Undefined if there are no secrets.
 */
export function secretPattern(secrets: ReadonlySet<string>): RegExp | undefined {
  const long = [...secrets].filter((secret) => secret.length >= MIN_SECRET_LENGTH)
  // Longest first: a secret that starts with another one is then redacted whole.
  const patterns = long.sort((a, b) => b.length - a.length).map((secret) => Array.from(secret, spellings).join(''))
  return patterns.length === 0 ? undefined : new RegExp(patterns.join('|'), 'gu')
}

/** The passwords in a URL: in its authority, and in its query (libpq allows both). Empty if `text` is not a URL. */
export function passwordsOf(text: string): readonly string[] {
  const url = URL.parse(text)
  if (url === null) return []
  const passwords = [decodePercent(url.password) ?? url.password, ...url.searchParams.getAll('password')]
  return passwords.filter((each) => each !== '')
}

function spellings(character: string): string {
  const encoded = `(?i:${Buffer.from(character).toString('hex').replaceAll(/../g, '%$&')})`
  const forms = new Set([character, JSON.stringify(character).slice(1, -1)])
  const literals = [...forms].map((form) => RegExp.escape(form))
  return `(?:${[...literals, encoded, ...(character === ' ' ? ['\\+'] : [])].join('|')})`
}
