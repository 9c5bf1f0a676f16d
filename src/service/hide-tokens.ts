import type { Secrets } from './secrets.ts'
import type { TokenShelf, TokenStore } from './token-store.ts'

/** The store, of which whatever is read counts as a secret: no message shows a token that another process fetched. */
export function hideTokens(store: TokenStore, secrets: Secrets): TokenStore {
  const hide = ({ read, write }: TokenShelf): TokenShelf => ({
    write,
    read: async (signal) => {
      const token = await read(signal)
      if (token) secrets.add(token.value)
      return token
    },
  })
  return { ...hide(store), exclusively: (work, signal) => store.exclusively((shelf) => work(hide(shelf)), signal) }
}
