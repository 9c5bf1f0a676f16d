import type { Page } from '../core/page.ts'
import { fetchPastEnd, type PageReading, pageIgnored } from './page-reading.ts'

export interface FirstPage {
  /** Its items, as the service serves a full page. */
  readonly pageSize: number
  readonly keys: readonly string[]
  readonly keysOf: (page: Page) => readonly string[]
}

/**
 * Page 2 is page 1 again, which is full: either the list ends there, and the service repeats its last page, or it ignores the
 * page parameter. One call tells: of pages half as large, the second holds what comes after the first half.
 * @throws LivehouseError `paging.ignored` where it does not
 */
export async function requirePaged(reading: PageReading, second: Page, first: FirstPage): Promise<void> {
  const half = Math.floor(first.pageSize / 2)
  const page = half > 0 ? await fetchPastEnd({ ...reading, pageSize: half }, 2) : undefined
  const keys = page === undefined ? [] : first.keysOf(page)
  // Items that cannot be read have no key: so many fewer are known to be of the first half.
  const unread = first.pageSize - first.keys.length
  const later = new Set(first.keys.slice(Math.max(1, half - unread)))
  if (keys.length === 0 || !keys.every((key) => later.has(key))) throw pageIgnored(reading, second)
}
