import type { AccessToken } from './access-token.ts'

/** The token that is shared; `undefined` before the first. */
export interface TokenShelf {
  readonly read: (signal: AbortSignal) => Promise<AccessToken | undefined>
  readonly write: (token: AccessToken, signal: AbortSignal) => Promise<void>
}

/** Where a fetched token is kept for all who share it. */
export interface TokenStore extends TokenShelf {
  /** Runs `work` for one caller at a time among all who share the store; `work` uses the shelf that it is given. */
  readonly exclusively: <T>(work: (shelf: TokenShelf) => Promise<T>, signal: AbortSignal) => Promise<T>
}

/** Keeps the token in this process, which is alone with it. */
export function createMemoryTokenStore(): TokenStore {
  let kept: AccessToken | undefined
  const shelf: TokenShelf = {
    read: async () => kept,
    write: async (token) => {
      kept = token
    },
  }
  return { ...shelf, exclusively: (work) => work(shelf) }
}
