import type { ListRequest } from '../../core/page.ts'
import type { FactSubject, SourceFact } from '../../core/source-fact.ts'
import { formatWallTime, type WallTime } from '../../core/wall-clock.ts'
import { showsSeconds, timeOf } from './fields.ts'
import type { Questioner } from './questioner.ts'

/** A list whose rows show the second by which they are filtered. */
export interface SecondsList {
  readonly subject: FactSubject
  readonly pageSize: number
  /** Rows that are there. */
  readonly items: readonly unknown[]
  readonly within: (from: string, to: string) => ListRequest
  /** The field of a row, or the place of its last cell. */
  readonly timeField: (item: unknown) => string | number
}

/**
 * Finds which ends belong to a filter of which the rows show the very second (4.11, 4.12): does a row of the second S come when
 * S to S + 1 is asked for, and when S − 1 to S is? Two calls, three where neither brings it.
 */
export async function findEndsBySeconds({ ask }: Pick<Questioner, 'ask'>, list: SecondsList): Promise<SourceFact> {
  const { subject, pageSize, items, timeField } = list
  const fact = (answer: string | null, evidence: string): SourceFact => ({
    topic: 'filter_ends',
    subject,
    answer,
    evidence,
  })
  const row = items.find((item) => showsSeconds(item, timeField(item)))
  const second = row === undefined ? undefined : timeOf(row, timeField(row))
  if (second === undefined) return fact(null, 'no row that shows the second of its time was there to ask for')
  const seen: string[] = []
  const brings = async (from: WallTime, to: WallTime): Promise<boolean | undefined> => {
    const reply = await ask({ list: list.within(formatWallTime(from), formatWallTime(to)), pageSize })
    const found = reply.kind === 'page' && reply.page.items.some((item) => timeOf(item, timeField(item)) === second)
    const what = reply.kind === 'page' ? (found ? 'comes' : 'does not come') : reply.reason
    seen.push(`for ${formatWallTime(from)} to ${formatWallTime(to).slice(11)} ${what}`)
    const isHidden = reply.kind === 'page' && !found && reply.page.items.length >= pageSize
    return reply.kind !== 'page' || isHidden ? undefined : found
  }
  const hasStart = await brings(second, second + 1)
  const hasEnd = await brings(second - 1, second)
  // Without either, only a row that comes between shows that the filter works at all.
  const isSound = hasStart === false && hasEnd === false ? await brings(second - 1, second + 1) : true
  const evidence = `a row of ${formatWallTime(second)}: asked ${seen.join(', ')}`
  if (hasStart === undefined || hasEnd === undefined || isSound !== true) return fact(null, evidence)
  return fact(hasStart ? (hasEnd ? 'both' : 'start') : hasEnd ? 'end' : 'none', evidence)
}
