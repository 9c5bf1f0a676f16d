// Node 24 has these, but TypeScript's library does not declare them yet (TC39 proposal-json-parse-with-source).
interface RawJson {
  readonly rawJSON: string
}

interface JSON {
  /** Wraps the text of a JSON primitive; `JSON.stringify` writes it unchanged. */
  rawJSON(text: string): RawJson
  isRawJSON(value: unknown): value is RawJson
}

// undici ships types only for its main entry point.
declare module 'undici/lib/*'
