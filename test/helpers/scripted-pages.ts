import type { Page } from '../../src/core/page.ts'

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
