/**
 * A JSON value as text. For values that were read from JSON, and bigints, which are written as numbers.
 */
export function jsonText(value: unknown): string {
  try {
    // Without a bigint, which it refuses, a tenth of the time.
    return JSON.stringify(value) ?? 'null'
  } catch {
    return JSON.stringify(value, (_key, part: unknown) =>
      typeof part === 'bigint' ? JSON.rawJSON(part.toString()) : part,
    )
  }
}
