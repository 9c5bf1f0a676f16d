/** Adds parameters, such as `application_name`, to a connection URL. */
export function withParameters(url: string, parameters: Readonly<Record<string, string>>): string {
  const extended = new URL(url)
  for (const [name, value] of Object.entries(parameters)) extended.searchParams.set(name, value)
  return extended.href
}
