import { isSameJson } from '../../core/is-same-json.ts'
import type { ListRequest, Page } from '../../core/page.ts'
import type { FactSubject, SourceFact } from '../../core/source-fact.ts'
import { countOf } from './fields.ts'
import type { Questioner } from './questioner.ts'

/** A list, and what its first page of the largest size held. */
export interface PagedList {
  readonly subject: FactSubject
  readonly list: ListRequest
  readonly defaultSize: number
  readonly largestSize: number
  /** Undefined where none came; `missing` says why. */
  readonly first: Page | undefined
  readonly missing: string
}

/** Pages beyond the last that a growing list does not fill while it is asked. */
const FAR = 10

/** Finds what comes past the last page, and for a page size above the maximum. Two calls, three where page 1 of a bare array is full. */
export async function findPageLimits(
  { ask }: Pick<Questioner, 'ask'>,
  list: PagedList,
): Promise<readonly SourceFact[]> {
  const { first, missing, largestSize } = list
  if (first === undefined) return [pastFact(list, null, missing), aboveFact(list, null, missing)]
  const isOpen = first.total === undefined && first.items.length >= largestSize
  const second = isOpen ? await ask({ list: list.list, page: 2, pageSize: largestSize }) : undefined
  const more = second?.kind === 'page' && !isSameJson(second.page.items, first.items) ? second.page.items.length : 0
  const known = first.items.length + more
  // Of a bare array a full page 2 leaves open how much there is.
  const total = first.total ?? (known < 2 * largestSize ? known : undefined)
  return [await findPastLastPage(ask, list, first, total), await findAboveMaximum(ask, list, total, known)]
}

async function findPastLastPage(
  ask: Questioner['ask'],
  list: PagedList,
  first: Page,
  total: number | undefined,
): Promise<SourceFact> {
  if (total === undefined) return pastFact(list, null, 'where the list ends is not known without reading it')
  const { largestSize } = list
  const lastPage = Math.max(1, Math.ceil(total / largestSize))
  const reply = await ask({ list: list.list, page: lastPage + FAR, pageSize: largestSize })
  const asked = `${countOf(total)} on ${countOf(lastPage, 'page')}, asked for page ${lastPage + FAR}`
  if (reply.kind !== 'page')
    return pastFact(list, reply.kind === 'refused' ? 'refused' : null, `${asked}: ${reply.reason}`)
  const { items, echoedPage } = reply.page
  const evidence = `${asked}: ${countOf(items.length)}${echoedPage === undefined ? '' : `, called page ${echoedPage}`}`
  if (total === 0) return pastFact(list, null, `${evidence}; an empty list tells nothing`)
  if (items.length === 0) return pastFact(list, 'empty', evidence)
  const isRest = items.length === total - (lastPage - 1) * largestSize
  const isLast = lastPage === 1 ? isSameJson(items, first.items) || isRest : isRest
  return pastFact(list, isLast ? 'the last page again' : null, evidence)
}

async function findAboveMaximum(
  ask: Questioner['ask'],
  list: PagedList,
  total: number | undefined,
  known: number,
): Promise<SourceFact> {
  const { largestSize, defaultSize } = list
  const size = 2 * largestSize
  const reply = await ask({ list: list.list, pageSize: size })
  const there = total === undefined ? `more than ${known}` : String(total)
  const asked = `asked for ${size} of ${there} rows`
  if (reply.kind !== 'page')
    return aboveFact(list, reply.kind === 'refused' ? 'refused' : null, `${asked}: ${reply.reason}`)
  const { items, echoedPageSize } = reply.page
  const echo = echoedPageSize === undefined ? '' : `, called a page of ${echoedPageSize}`
  const evidence = `${asked}: ${countOf(items.length)}${echo}`
  const answers = new Map([
    [largestSize, 'the maximum'],
    [defaultSize, 'the default'],
    [size, 'as asked'],
  ])
  // Which sizes would have brought just so many rows? Where several would, the page says what it is.
  const fitting = [...answers.keys()].filter((each) => Math.min(each, total ?? known) === items.length)
  const told = fitting.length > 1 ? fitting.filter((each) => each === echoedPageSize) : fitting
  return aboveFact(list, told.length === 1 ? (answers.get(told[0] ?? 0) ?? null) : null, evidence)
}

function pastFact({ subject }: PagedList, answer: string | null, evidence: string): SourceFact {
  return { topic: 'past_last_page', subject, answer, evidence }
}

function aboveFact({ subject }: PagedList, answer: string | null, evidence: string): SourceFact {
  return { topic: 'above_maximum', subject, answer, evidence }
}
