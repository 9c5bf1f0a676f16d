import { decodePercent } from './text.ts'

/** A shorter value is no secret, and hiding it would hide half the log. */
const SHORTEST_SECRET = 4

/**
 * Matches every secret however its characters are spelled: as they are, percent-encoded in either case (RFC 3986), `+`
 * for a space (form encoding), escaped as in JSON. Undefined when there is none.
 */
export function secretPattern(secrets: ReadonlySet<string>): RegExp | undefined {
  const long = [...secrets].filter((secret) => secret.length >= SHORTEST_SECRET)
  // The longest first, so that a secret that begins with another is replaced as a whole.
  const patterns = long.sort((a, b) => b.length - a.length).map((secret) => Array.from(secret, spellings).join(''))
  return patterns.length === 0 ? undefined : new RegExp(patterns.join('|'), 'gu')
}

/** The passwords of a URL: before the host, and behind the question mark (libpq). None of what is no URL. */
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
