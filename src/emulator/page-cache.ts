/** Bodies of pages by what they depend on; the least recently used ones give way. */
export interface PageCache {
  readonly get: (key: string) => Buffer | undefined
  readonly set: (key: string, body: Buffer) => void
}

export function createPageCache(maxBytes: number): PageCache {
  const bodies = new Map<string, Buffer>()
  let bytes = 0
  return {
    get: (key) => {
      const body = bodies.get(key)
      if (!body) return undefined
      bodies.delete(key)
      bodies.set(key, body)
      return body
    },
    set: (key, body) => {
      bodies.set(key, body)
      bytes += body.length
      for (const [oldest, dropped] of bodies) {
        if (bytes <= maxBytes) return
        bodies.delete(oldest)
        bytes -= dropped.length
      }
    },
  }
}
