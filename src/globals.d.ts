// Node 24 has these; TypeScript's library does not declare them yet (TC39 proposal-json-parse-with-source).
interface RawJson {
  readonly rawJSON: string
}

interface JSON {
  /** A value that `JSON.stringify` writes as this very text; only for a JSON primitive. */
  rawJSON(text: string): RawJson
  isRawJSON(value: unknown): value is RawJson
}

// Parts of undici that are not loaded with the whole of it; it describes only the whole.
declare module 'undici/lib/api/index.js' {
  import type { Dispatcher } from 'undici'
  const methods: Pick<Dispatcher, 'request'>
  export = methods
}
declare module 'undici/lib/dispatcher/dispatcher.js' {
  import type { Dispatcher } from 'undici'
  const part: typeof Dispatcher
  export = part
}
declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  import type { EnvHttpProxyAgent } from 'undici'
  const part: typeof EnvHttpProxyAgent
  export = part
}
