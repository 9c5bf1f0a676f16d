import { partitionKey } from '../core/slice.ts'
import { hasHeaders } from '../ledger/questionnaires.ts'
import { headersText } from './extract-unkeyed.ts'
import { type Extraction, isSettled } from './judge-walk.ts'
import { fetchUnlessRefused, type PageReading } from './page-reading.ts'
import type { RunDeps, Slice } from './slice-work.ts'

/**
 * What was read, with the headers of its questionnaire. Some services leave them out of an empty answer: then they are
 * asked for without a window, once a run, so that headers which were edited while nobody signed up are noticed.
 *
 * @throws LivehouseError `api.…` of the call
 */
export async function completeHeaders(
  { stream, partition, window, covers }: Slice,
  extraction: Extraction,
  pages: PageReading,
  { db }: Pick<RunDeps, 'db'>,
): Promise<Extraction> {
  const isNewest = window !== undefined && (covers === undefined || covers.to < window.to)
  const mayLackTitle = stream.wire.envelope?.title !== undefined && extraction.title === undefined
  if (!mayLackTitle || !isNewest || !isSettled(extraction.verdict)) return extraction
  if (!(await hasHeaders(db, partitionKey(partition)))) return extraction
  const asked = { ...pages, list: { stream, partition }, pageSize: 1 }
  const page = await fetchUnlessRefused(asked, 1)
  // A service that serves no range that is so long does not tell them.
  const title = 'refusal' in page ? undefined : page.title
  return title?.length ? { ...extraction, title: headersText(title) } : extraction
}
