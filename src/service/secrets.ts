import { secretPattern } from '../core/secret-pattern.ts'

const HIDDEN = '[redacted]'
/** Fetched tokens come one by one for as long as the process lives; only the youngest can still matter. */
const MOST_ADDED = 64

/** The values that no message may show. */
export interface Secrets {
  /** Adds a value that came to light later, such as a fetched token. */
  readonly add: (value: string) => void
  /** Replaces every known value, however its characters are spelled. */
  readonly redact: (text: string) => string
}

/**
 * Remembers secret values, so that a service that repeats them in its error texts cannot spread them. `onAdded` hears
 * of each later value too, for the logger.
 */
export function createSecrets(initial: readonly (string | null)[], onAdded: (value: string) => void): Secrets {
  const given = initial.filter((value) => value !== null)
  let added: readonly string[] = []
  let pattern = secretPattern(new Set(given))
  return {
    add: (value) => {
      if (added.includes(value)) return
      added = [...added, value].slice(-MOST_ADDED)
      pattern = secretPattern(new Set([...given, ...added]))
      onAdded(value)
    },
    redact: (text) => (pattern ? text.replace(pattern, HIDDEN) : text),
  }
}
