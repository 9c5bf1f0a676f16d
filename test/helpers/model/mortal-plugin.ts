import type { KyselyPlugin } from 'kysely'

/** A process that dies before its `at`-th statement: this one and all later ones are never sent. */
export function mortalPlugin(at: number, onDeath: () => void): KyselyPlugin {
  let statements = 0
  return {
    transformQuery: ({ node }) => {
      if (++statements < at) return node
      onDeath()
      throw new Error('killed')
    },
    transformResult: async ({ result }) => result,
  }
}
