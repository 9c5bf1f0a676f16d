import type { OpenSlice } from '../ledger/open-slices.ts'
import type { ReadPage } from './paged-progress.ts'

/**
 * What it means that the page after the last one is that page again, although rows have an id. The place where the list would
 * end is asked for at another page size: of pages one row shorter, the one that holds the last row ends with it where the service
 * gives its last page again past the end. `moved`: rows came that had not come before. `ignored`: the page parameter has no effect.
 * @param read a page by number and size
 */
export async function judgeRepeatedPage(
  { pagesRead, pageSize, keys }: OpenSlice,
  repeated: ReadPage,
  read: (page: number, pageSize: number) => Promise<ReadPage>,
): Promise<'end' | 'moved' | 'ignored'> {
  const rows = (pagesRead - 1) * pageSize + repeated.items.length
  let size = Math.min(pageSize, rows) - 1
  while (size > 1 && rows % size === 0) size--
  // Of one row there is no shorter page: it is taken for the whole list.
  if (size < 1) return 'end'
  const page = await read(Math.ceil(rows / size), size)
  if (page.items.length === 0 || page.keys.some((key) => !keys.has(key))) return 'moved'
  const lastKey = repeated.keys.at(-1)
  const hasLast = lastKey === undefined || page.keys.includes(lastKey)
  return hasLast && page.items.length < Math.max(size, 2) ? 'end' : 'ignored'
}
