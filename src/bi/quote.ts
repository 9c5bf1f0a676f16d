/** A text as SQL, whatever stands in it and however the server reads backslashes. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

/** A name as SQL, whatever stands in it. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** SQL in which `{zone}` stands for the service's zone, between quotes. */
export function inZone(text: string, timeZone: string): string {
  return text.replaceAll('{zone}', timeZone.replaceAll("'", "''"))
}

/** A text as SQL that people can read: between dollar signs, with a tag that it does not have. */
export function dollarQuoted(text: string): string {
  let tag = '$text'
  while (text.includes(tag)) tag += '_'
  return `${tag}$${text}${tag}$`
}
