/** Quotes any text as an SQL literal, whether `standard_conforming_strings` is on or off. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

/** Quotes any name as an SQL identifier. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Replaces each `{zone}`, which has to stand inside an SQL literal, with the escaped time zone. */
export function fillZone(text: string, timeZone: string): string {
  return text.replaceAll('{zone}', timeZone.replaceAll("'", "''"))
}

/** Dollar-quotes a text, which keeps it readable, with a tag that does not occur in it. */
export function dollarQuote(text: string): string {
  let tag = '$text'
  while (text.includes(tag)) tag += '_'
  return `${tag}$${text}${tag}$`
}
