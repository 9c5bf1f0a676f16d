import type { Clock } from '../../core/clock.ts'
import type { Window } from '../../core/slice.ts'
import type { SourceFact } from '../../core/source-fact.ts'
import type { Stream } from '../../core/stream.ts'
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
  /** Of these, the first that is filtered by time, and counted, tells what is newest. */
  readonly streams: readonly Stream[]
  /** The first of them that has rows is asked. */
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

/** Finds whether the newest rows fit the configured zone: none may lie ahead of now. At most four calls. */
export async function findZone(
  { ask }: Pick<Questioner, 'ask'>,
  { streams, channels, timeZone, clock }: ZoneQuestion,
): Promise<SourceFact> {
  let nowMs = clock.now()
  let noAnswer: string | undefined
  const stream = streams.find(({ isTimeFiltered, isCounted, partitionedBy }) => {
    return isTimeFiltered && isCounted && partitionedBy === 'channel'
  })
  const newestOf = async (channel: string, window?: Window): Promise<number> => {
    if (stream === undefined) return -Infinity
    const reply = await ask({ list: { stream, partition: { channel }, window }, pageSize: stream.pageSize })
    if (reply.kind !== 'page') noAnswer ??= reply.reason
    nowMs = (reply.kind === 'page' ? reply.page.serviceTimeMs : undefined) ?? nowMs
    return Math.max(...(reply.kind === 'page' ? reply.page.items : []).flatMap((item) => timesOf(item, stream)))
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
    const ahead = { from: now - YOUNG, to: now + DAY + 120 * MINUTE }
    newest = Math.max(newest, await newestOf(channel, ahead))
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

function timesOf(item: unknown, { columns, timeColumns }: Stream): readonly WallTime[] {
  const fields: Readonly<Record<string, unknown>> = Object(item)
  return timeColumns.flatMap((name) => {
    const source = columns[name]?.source
    const value = source?.kind === 'field' ? fields[source.field] : undefined
    return typeof value === 'string' ? (parseWallTime(value) ?? []) : []
  })
}

function spanOf(seconds: number): string {
  const minutes = Math.floor(seconds / 60)
  if (minutes < 120) return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} hours` : `${Math.floor(minutes / 60 / 24)} days`
}
