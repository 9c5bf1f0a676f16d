/** What Postgres can hold: U+0000 removed, lone surrogates replaced by U+FFFD. */
export function cleanText(raw: string): string {
  return (raw.includes('\u0000') ? raw.replaceAll('\u0000', '') : raw).toWellFormed()
}
