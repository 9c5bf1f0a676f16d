import type { Page } from '../../src/core/page.ts'

/** A page with these items and fields. */
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
