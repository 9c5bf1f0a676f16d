/** A connection URL with these parameters beside its own, such as `application_name`. */
export function withParameters(url: string, parameters: Readonly<Record<string, string>>): string {
  const extended = new URL(url)
  for (const [name, value] of Object.entries(parameters)) extended.searchParams.set(name, value)
  return extended.href
}
