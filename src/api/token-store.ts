import type { AccessToken } from './access-token.ts'

/** Where a fetched token is kept for all who share it. */
export interface TokenStore {
  readonly read: (signal: AbortSignal) => Promise<AccessToken | undefined>
  readonly write: (token: AccessToken, signal: AbortSignal) => Promise<void>
  /** Runs `work` for one caller at a time among all who share the store; it reads again before it fetches. */
  readonly exclusively: <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>
}

/** Keeps the token in this process, which is alone with it. */
export function createMemoryTokenStore(): TokenStore {
  let kept: AccessToken | undefined
  return {
    read: async () => kept,
    write: async (token) => {
      kept = token
    },
    exclusively: (work) => work(),
  }
}
