import type { ListRequest } from '../../core/page.ts'
import type { SourceFact } from '../../core/source-fact.ts'
import { formatWallTime, MINUTE, type WallTime } from '../../core/wall-clock.ts'
import type { Questioner } from './questioner.ts'

/**
 * Finds which ends belong to the filter of 4.5, whose rows show minutes while it looks at seconds. Halving finds the last
 * second within the minute from which on a record is still found; whether that second alone, and that and the next, bring it
 * tells the ends. Nine calls at most.
 *
 * @param minute in which the filter finds a record
 */
export async function findEndsByHalving(
  { ask }: Pick<Questioner, 'ask'>,
  within: (from: string, to: string) => ListRequest,
  minute: WallTime | undefined,
): Promise<SourceFact> {
  const fact = (answer: string | null, evidence: string): SourceFact => ({
    topic: 'filter_ends',
    subject: 'userRecordList',
    answer,
    evidence,
  })
  if (minute === undefined) return fact(null, 'it is not known which time the filter looks at')
  let unanswered: string | undefined
  const count = async (from: WallTime, to: WallTime): Promise<number> => {
    if (unanswered !== undefined) return 0
    const reply = await ask({ list: within(formatWallTime(from), formatWallTime(to)), pageSize: 1 })
    if (reply.kind === 'page') return reply.page.total ?? reply.page.items.length
    unanswered = `asked for ${formatWallTime(from)} to ${formatWallTime(to)}: ${reply.reason}`
    return 0
  }
  const end = minute + MINUTE
  // The record lies in the minute, so it is found from the second before on, and not after its end.
  let [found, missed] = [minute - 1, end + 1]
  while (missed - found > 1) {
    const middle = Math.floor((found + missed) / 2)
    if ((await count(middle, end)) > 0) found = middle
    else missed = middle
  }
  const seen = `${formatWallTime(found)} is the last second of its minute from which on records are found`
  const alone = await count(found, found)
  const withNext = alone > 0 ? 0 : await count(found, found + 1)
  const withTwo = alone + withNext > 0 ? 0 : await count(found, found + 2)
  if (unanswered !== undefined) return fact(null, unanswered)
  if (alone > 0) return fact('both', `${seen}; asked from it to itself, ${alone} come`)
  const open = 'times are shown in minutes, so which end it is stays open'
  if (withNext > 0) return fact('one', `${seen}; to itself none comes, to the next second ${withNext}; ${open}`)
  return fact(withTwo > 0 ? 'none' : null, `${seen}; to the next second none comes, to the one after it ${withTwo}`)
}
