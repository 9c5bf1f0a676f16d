import pLimit from 'p-limit'

/** So many may do something at once, in the order of asking. */
export interface Turns {
  /** Resolves when it is one's turn; the function that it resolves to ends it. */
  readonly take: () => Promise<() => void>
}

export function createTurns(most: number): Turns {
  const limit = pLimit(most)
  return {
    take: async () => {
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
      const { promise: ended, resolve: end } = Promise.withResolvers<void>()
      void limit(() => {
        begin()
        return ended
      })
      await begun
      return end
    },
  }
}
