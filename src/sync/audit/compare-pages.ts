import type { RunDeps } from '../slice-work.ts'
import { choosePages } from './choose-pages.ts'
import { comparePage, type PagedPart } from './compare-page.ts'
import { openHoldings } from './holdings.ts'
import type { LearnColumn } from './learn-filter-column.ts'
import { type Difference, describesSame, type OpenAudit } from './partition-audit.ts'

/** What comparing random pages has shown; the differences are with their partitions. */
export interface PagesComparison {
  readonly seed: number
  readonly pages: number
  /** Of so many. */
  readonly of: number
  readonly rows: number
}

interface OpenPart extends PagedPart {
  readonly audit: OpenAudit
}

/** Compares random pages of what has been compared by count, field by field, and adds what differs to it. */
export async function comparePages(
  audits: readonly OpenAudit[],
  { pages, seed }: { readonly pages: number; readonly seed: number },
  deps: RunDeps,
  learnColumn: LearnColumn,
): Promise<PagesComparison> {
  const parts: OpenPart[] = []
  for (const audit of audits) parts.push(...(await partsOf(audit, deps, learnColumn)))
  const total = parts.reduce((sum, part) => sum + part.pages, 0)
  const chosen = choosePages(total, pages, seed)
  let rows = 0
  let begin = 0
  for (const part of parts) {
    const end = begin + part.pages
    for (const number of chosen.filter((each) => each >= begin && each < end)) {
      if (deps.signal.aborted || part.audit.error !== undefined) break
      rows += await compareOne(part, number - begin, deps)
    }
    begin = end
  }
  return { seed, pages: chosen.length, of: total, rows }
}

async function compareOne(part: OpenPart, place: number, deps: RunDeps): Promise<number> {
  const { audit } = part
  try {
    const page = await comparePage(part, place, deps, audit.meter)
    addTo(audit, page.differences, page.notes)
    return page.rows
  } catch (error) {
    audit.error = error
    return 0
  }
}

/** A row may have been found by its count already, or lie on two pages. */
function addTo(audit: OpenAudit, differences: readonly Difference[], notes: readonly string[]): void {
  const { comparison } = audit
  if (comparison === undefined) return
  const fresh = differences.filter((each) => !comparison.differences.some((known) => describesSame(known, each)))
  audit.comparison = {
    ...comparison,
    verdict: fresh.length > 0 ? 'different' : comparison.verdict,
    differences: [...comparison.differences, ...fresh],
    notes: [...new Set([...comparison.notes, ...notes])],
  }
}

/** Of lists with times the pages that are held here; of others as many as the source counts. */
async function partsOf(audit: OpenAudit, deps: RunDeps, learnColumn: LearnColumn): Promise<readonly OpenPart[]> {
  const { task, comparison, meter } = audit
  const { stream, partition, covered } = task
  const pagesFor = (rows: number) => Math.max(1, Math.ceil(rows / stream.pageSize))
  if (comparison === undefined || comparison.verdict === 'unread') return []
  if (covered === undefined) {
    const { sourceRows } = comparison
    if (sourceRows === undefined) return []
    return [{ audit, stream, partition, window: undefined, column: undefined, pages: pagesFor(sourceRows) }]
  }
  const column = await learnColumn(stream, meter)
  const { within } = await openHoldings(deps.db, stream, partition, deps.timeZone)
  const parts: OpenPart[] = []
  for (const window of covered) {
    const rows = await within(column ?? stream.timeColumns[0] ?? '', window)
    parts.push({ audit, stream, partition, window, column, pages: pagesFor(rows) })
  }
  return parts
}
