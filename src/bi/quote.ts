/** A text as SQL, whatever stands in it and however the server reads backslashes. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

/** A name as SQL, whatever stands in it. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
