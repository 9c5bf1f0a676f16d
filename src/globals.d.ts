// Node 24 has these; TypeScript's library does not declare them yet (TC39 proposal-json-parse-with-source).
interface RawJson {
  readonly rawJSON: string
}

interface JSON {
  /** A value that `JSON.stringify` writes as this very text; only for a JSON primitive. */
  rawJSON(text: string): RawJson
  isRawJSON(value: unknown): value is RawJson
}

// Parts of undici, which describes only the whole.
declare module 'undici/lib/*'
