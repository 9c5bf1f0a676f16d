/** A text as an SQL literal, whatever it contains and however the server reads backslashes. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

/** A name as a quoted SQL identifier, whatever it contains. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Puts the service's time zone, escaped, in the place of each `{zone}`, which stands between quotes. */
export function inZone(text: string, timeZone: string): string {
  return text.replaceAll('{zone}', timeZone.replaceAll("'", "''"))
}

/** A text as a dollar-quoted SQL literal, which people can read, with a tag that does not occur in it. */
export function dollarQuoted(text: string): string {
  let tag = '$text'
  while (text.includes(tag)) tag += '_'
  return `${tag}$${text}${tag}$`
}
