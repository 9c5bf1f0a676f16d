import type { SourceFact } from '../../core/source-fact.ts'
import type { HeldIds } from '../../state/read-held-ids.ts'
import { countOf, textOf } from './fields.ts'
import type { Questioner } from './questioner.ts'
import { hasRows, sampleRecords } from './samples.ts'

type RecordSample = Awaited<ReturnType<typeof sampleRecords>>

/** What the warehouse holds; undefined where that is of less than two channels. */
export interface HeldChannels {
  readonly records: HeldIds | undefined
  readonly users: HeldIds | undefined
}

/**
 * Finds whether ids recur across channels: among all rows that the warehouse holds, else among the first of two channels, which
 * show that ids recur, but not that none does. Up to three calls.
 */
export async function findRecurringIds(
  questioner: Pick<Questioner, 'ask'>,
  first: RecordSample,
  otherChannels: readonly string[],
  held: HeldChannels,
): Promise<readonly SourceFact[]> {
  const isHeld = held.records !== undefined && held.users !== undefined
  const second = isHeld || !hasRows(first) ? undefined : await sampleRecords(questioner, otherChannels)
  return [
    factOf('recurring_record_ids', 'record_id', held.records, first, second),
    factOf('recurring_user_ids', 'user_id', held.users, first, second),
  ]
}

function factOf(
  topic: 'recurring_record_ids' | 'recurring_user_ids',
  field: string,
  held: HeldIds | undefined,
  first: RecordSample,
  second: RecordSample,
): SourceFact {
  const fact = (answer: string | null, evidence: string): SourceFact => ({
    topic,
    subject: 'account',
    answer,
    evidence,
  })
  if (held !== undefined) {
    const { channels, ids, recurring } = held
    const evidence = `the warehouse holds ${countOf(ids, 'id')} of ${channels} channels, ${recurring} of them of more than one`
    return fact(recurring > 0 ? 'yes' : 'no', evidence)
  }
  if (!first?.page || !second?.page || !hasRows(first) || !hasRows(second)) {
    return fact(null, 'there are not two channels with watch records, neither in the warehouse nor among those asked')
  }
  const [one, other] = [idsOf(first.page.items, field), idsOf(second.page.items, field)]
  const both = [...one].filter((id) => other.has(id)).length
  const channels = `channels ${first.list.channelId} and ${second.list.channelId}`
  const evidence = `of ${one.size} and ${other.size} ids of ${channels}, ${both} are the same`
  if (both > 0) return fact('yes', evidence)
  const isWhole = [first.page, second.page].every(({ total, items }) => total === items.length)
  return isWhole ? fact('no', evidence) : fact(null, `${evidence}; these are not all there are`)
}

function idsOf(items: readonly unknown[], field: string): ReadonlySet<string> {
  return new Set(items.map((item) => textOf(item, field)).filter((id) => id !== undefined))
}
