import type { Clock } from '../../core/clock.ts'
import type { SourceFact } from '../../core/source-fact.ts'
import {
  DAY,
  formatWallTime,
  MINUTE,
  offsetAt,
  parseWallTime,
  type WallTime,
  wallTimeAt,
} from '../../core/wall-clock.ts'
import type { Questioner } from './questioner.ts'

export interface ZoneQuestion {
  /** The first of them that has watch records is asked. */
  readonly channels: readonly string[]
  readonly timeZone: string
  /** Counts where the service does not tell its time. */
  readonly clock: Pick<Clock, 'now'>
}

/** So many channels are tried for rows. */
const MOST_CHANNELS = 3
/** Offsets of zones differ by quarters of an hour: what is younger fits one zone only. */
const YOUNG = 15 * MINUTE
/** Clocks differ, and shown minutes are cut. */
const TOLERANCE = 2 * MINUTE

/** Finds whether the newest watch records fit the configured zone: none may lie ahead of now. At most four calls. */
export async function findZone(
  { ask }: Pick<Questioner, 'ask'>,
  { channels, timeZone, clock }: ZoneQuestion,
): Promise<SourceFact> {
  let nowMs = clock.now()
  let noAnswer: string | undefined
  const newestOf = async (channelId: string, range: { startTime?: string; endTime?: string } = {}) => {
    const list = { endpoint: 'userRecordList', channelId, filterWatchTime: 0, ...range } as const
    const reply = await ask({ list, pageSize: 100 })
    if (reply.kind !== 'page') noAnswer ??= reply.reason
    nowMs = (reply.kind === 'page' ? reply.page.serviceTimeMs : undefined) ?? nowMs
    return Math.max(...(reply.kind === 'page' ? reply.page.items : []).flatMap(timesOf))
  }
  let newest = -Infinity
  let channel = ''
  for (const channelId of channels.slice(0, MOST_CHANNELS)) {
    channel = channelId
    newest = await newestOf(channelId)
    if (newest > -Infinity) break
  }
  const now = wallTimeAt(nowMs, timeZone)
  if (newest > -Infinity && newest < now - YOUNG) {
    const range = { startTime: formatWallTime(now - YOUNG), endTime: formatWallTime(now + DAY + 120 * MINUTE) }
    newest = Math.max(newest, await newestOf(channel, range))
  }
  const fact = (answer: string | null, evidence: string): SourceFact => ({
    topic: 'zone',
    subject: 'account',
    answer,
    evidence,
  })
  if (newest === -Infinity) return fact(null, noAnswer ?? 'no row with a time came')
  const shown = `${formatWallTime(newest).slice(0, 16)} ${offsetAt(nowMs, timeZone)}`
  if (newest > now + TOLERANCE) {
    return fact('does not fit', `newest record ${shown}, ${spanOf(newest - now)} ahead of now in ${timeZone}`)
  }
  const evidence = `newest record ${shown}, ${spanOf(Math.max(0, now - newest))} ago in ${timeZone}`
  if (newest >= now - YOUNG) return fact('fits', evidence)
  return fact(null, `${evidence}: nobody has watched since, or the zone is another`)
}

function timesOf(item: unknown): readonly WallTime[] {
  const { first_login_time: first, last_online_time: last } = Object(item)
  return [first, last].flatMap((text) => (typeof text === 'string' ? (parseWallTime(text) ?? []) : []))
}

function spanOf(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} hours` : `${Math.floor(minutes / 60 / 24)} days`
}
