/** Up to this length a look at each character costs less than the two searches. */
const SHORT = 64

/** What Postgres can hold: U+0000 removed, lone surrogates replaced by U+FFFD. */
export function cleanText(raw: string): string {
  if (raw.length <= SHORT && isPlain(raw)) return raw
  return (raw.includes('\u0000') ? raw.replaceAll('\u0000', '') : raw).toWellFormed()
}

/** Neither U+0000 nor a surrogate. */
function isPlain(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit === 0 || (unit & 0xf800) === 0xd800) return false
  }
  return true
}
