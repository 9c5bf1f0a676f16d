import type { FetchPage, Page, PageRequest } from '../../src/core/page.ts'

/** An answer with what a test says of it. */
export function pageOf(items: readonly unknown[], fields: Partial<Page> = {}): Page {
  return {
    items,
    total: undefined,
    echoedPage: undefined,
    echoedPageSize: undefined,
    title: undefined,
    serviceTimeMs: undefined,
    ...fields,
  }
}

/** Serves `answer` for each page and keeps what was asked. */
export function scriptPages(answer: (request: PageRequest, calls: number) => Page): {
  readonly fetchPage: FetchPage
  readonly asked: readonly number[]
} {
  const asked: number[] = []
  return {
    asked,
    fetchPage: async (request, { signal, onAttempt }) => {
      signal.throwIfAborted()
      onAttempt?.(1)
      asked.push(request.page)
      return answer(request, asked.length)
    },
  }
}

/** A list that behaves: `total` numbered items in pages of at most `largest`. */
export function servesNumbers(total: number, largest = Infinity): (request: PageRequest) => Page {
  return ({ page, pageSize }) => {
    const size = Math.min(pageSize, largest)
    const start = (page - 1) * size
    const items = Array.from({ length: Math.max(0, Math.min(size, total - start)) }, (_, index) => ({
      id: start + index,
    }))
    return pageOf(items, { total, echoedPage: page, echoedPageSize: size })
  }
}
