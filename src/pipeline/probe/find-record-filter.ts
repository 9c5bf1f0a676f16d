import type { WatchRecordQuery } from '../../core/page.ts'
import type { SourceFact } from '../../core/source-fact.ts'
import { formatWallMinute, formatWallTime, MINUTE, type WallTime } from '../../core/wall-clock.ts'
import { countOf, timeOf } from './fields.ts'
import type { Questioner } from './questioner.ts'
import type { Sample } from './samples.ts'

type RecordList = { readonly endpoint: 'userRecordList' } & WatchRecordQuery

/** A watch record's two times, as far as they are shown: in whole minutes. */
interface Stay {
  readonly entered: WallTime
  readonly left: WallTime
}

export interface RecordFilter {
  readonly fact: SourceFact
  /** A minute in which the filter finds a record; undefined where the filter is not understood. */
  readonly minute: WallTime | undefined
}

/** A stay must be longer than the window around one of its ends. */
const SHORTEST_STAY = 3 * MINUTE

/**
 * Finds the time that the filter of 4.5 looks at: around the entry and around the leave of the longest stay of the sample every
 * record that comes entered then and some left at another time, or the other way round. Two calls.
 */
export async function findRecordFilter(
  { ask }: Pick<Questioner, 'ask'>,
  sample: Sample<RecordList>,
): Promise<RecordFilter> {
  const fact = (answer: string | null, evidence: string): SourceFact => ({
    topic: 'record_filter_time',
    subject: 'userRecordList',
    answer,
    evidence,
  })
  if (!sample.page) return { fact: fact(null, sample.evidence), minute: undefined }
  const longest = staysOf(sample.page.items).toSorted((a, b) => b.left - b.entered - (a.left - a.entered))[0]
  if (longest === undefined || longest.left - longest.entered < SHORTEST_STAY) {
    return { fact: fact(null, `${sample.evidence}, none of them a stay of three minutes or more`), minute: undefined }
  }
  const seen: string[] = []
  let [mayBeEntry, mayBeLeave] = [true, true]
  for (const around of [longest.entered, longest.left]) {
    const [from, to] = [around - MINUTE, around + 2 * MINUTE - 1]
    const asked = { ...sample.list, startTime: formatWallTime(from), endTime: formatWallTime(to) }
    const reply = await ask({ list: asked, pageSize: 100 })
    const question = `asked for ${formatWallMinute(from)} to ${formatWallTime(to).slice(11)} of channel ${sample.list.channelId}`
    if (reply.kind !== 'page') return { fact: fact(null, `${question}: ${reply.reason}`), minute: undefined }
    const stays = staysOf(reply.page.items)
    const isWithin = (time: WallTime): boolean => time >= from && time <= to
    const entered = stays.filter((stay) => isWithin(stay.entered)).length
    const left = stays.filter((stay) => isWithin(stay.left)).length
    seen.push(`${question}, ${countOf(stays.length)} came: ${entered} entered and ${left} left in it`)
    mayBeEntry &&= entered === stays.length
    mayBeLeave &&= left === stays.length
  }
  const evidence = seen.join('; ')
  if (mayBeEntry && !mayBeLeave) return { fact: fact('entry', evidence), minute: longest.entered }
  if (mayBeLeave && !mayBeEntry) return { fact: fact('leave', evidence), minute: longest.left }
  const why = mayBeEntry ? 'either time explains it' : 'neither time alone explains it'
  return { fact: fact(null, `${evidence}: ${why}`), minute: undefined }
}

function staysOf(items: readonly unknown[]): readonly Stay[] {
  return items.flatMap((item) => {
    const [entered, left] = [timeOf(item, 'first_login_time'), timeOf(item, 'last_online_time')]
    return entered === undefined || left === undefined ? [] : [{ entered, left }]
  })
}
