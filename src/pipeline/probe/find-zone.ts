import type { ListRequest } from '../../core/page.ts'
import type { SourceFact } from '../../core/source-fact.ts'
import { DAY, formatWallTime, MINUTE, offsetAt, type WallTime, wallTimeAt } from '../../core/wall-clock.ts'
import { timeOf } from './fields.ts'
import type { Questioner } from './questioner.ts'

export interface ZoneQuestion {
  readonly timeZone: string
  /** By the service's clock, where it told one. */
  readonly nowMs: number
  /** Times of all kinds of rows that came so far. */
  readonly times: readonly WallTime[]
  /** Watch records of a channel within a range. */
  readonly within: (from: string, to: string) => ListRequest
}

/** Offsets of zones differ by quarters of an hour: what is younger fits one zone only. */
const YOUNG = 15 * MINUTE
/** Clocks differ, and shown minutes are cut. */
const TOLERANCE = 2 * MINUTE

/** Finds whether the newest rows fit the configured zone: none may lie ahead of now. One call where what came is old. */
export async function findZone({ ask }: Pick<Questioner, 'ask'>, question: ZoneQuestion): Promise<SourceFact> {
  const { timeZone, nowMs, within } = question
  const now = wallTimeAt(nowMs, timeZone)
  let newest = Math.max(...question.times)
  if (newest < now - YOUNG) {
    const list = within(formatWallTime(now - YOUNG), formatWallTime(now + DAY + 2 * 60 * MINUTE))
    const reply = await ask({ list, pageSize: 100 })
    const items = reply.kind === 'page' ? reply.page.items : []
    const times = items.flatMap((item) => [timeOf(item, 'first_login_time'), timeOf(item, 'last_online_time')])
    newest = Math.max(newest, ...times.filter((time) => time !== undefined))
  }
  const fact = (answer: string | null, evidence: string): SourceFact => ({
    topic: 'zone',
    subject: 'account',
    answer,
    evidence,
  })
  if (newest === Number.NEGATIVE_INFINITY) return fact(null, 'no row with a time came')
  const clock = `${formatWallTime(newest).slice(0, 16)} ${offsetAt(nowMs, timeZone)}`
  if (newest > now + TOLERANCE) {
    return fact('does not fit', `newest record ${clock}, ${spanOf(newest - now)} ahead of now in ${timeZone}`)
  }
  const evidence = `newest record ${clock}, ${spanOf(Math.max(0, now - newest))} ago in ${timeZone}`
  if (newest >= now - YOUNG) return fact('fits', evidence)
  return fact(null, `${evidence}: nobody has watched since, or the zone is another`)
}

function spanOf(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} hours` : `${Math.floor(minutes / 60 / 24)} days`
}
