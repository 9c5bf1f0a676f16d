import type { ChannelSetting } from '../app/settings.ts'
import { didYouMean } from '../core/did-you-mean.ts'
import type { Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import {
  DAY,
  formatWallMinute,
  formatWallTime,
  MINUTE,
  parseWallTime,
  type WallTime,
  wallTimeAt,
} from '../core/wall-clock.ts'
import { allStreams, findStream, streamNames } from '../streams/registry.ts'
import { checkUsage, type Refuse } from './usage.ts'

/** Help texts of flags that several verbs share. */
export const RUN_JSON_HELP = 'prints one JSON object with what was done instead of a table'
export const LIST_JSON_HELP = 'prints one JSON object instead'
/** Flags of the verbs that read rows. */
export const runFlags = {
  queue: 'queues the partitions for livehouse worker and livehouse serve, instead of reading them here',
  'dry-run': 'shows what would be read: slices and their range; reads and writes nothing',
  json: RUN_JSON_HELP,
} as const
export const CHANNELS_HELP = 'only these channels of LIVEHOUSE_CHANNELS (default: all of them)'

/** The names of streams, for a sentence. */
export function namesOf(streams: readonly Stream[]): string {
  return streams.map(({ name }) => name).join(', ')
}

/** The parts of a comma-separated flag, each once; undefined if the flag is not given. */
export function readList(flag: string, given: string | undefined, refuse: Refuse): readonly string[] | undefined {
  if (given === undefined) return undefined
  const parts = given.split(',').map((part) => part.trim())
  if (parts.includes('')) refuse(`${flag} has an empty entry in ${JSON.stringify(given)}`)
  return [...new Set(parts.filter((part) => part !== ''))]
}

/** `--streams a,b`, in the order of the registry; undefined if it is not given. */
export function readStreams(
  given: string | undefined,
  refuse: Refuse,
  flag = '--streams',
): readonly Stream[] | undefined {
  const names = readList(flag, given, refuse)
  for (const name of names?.filter((each) => findStream(each) === undefined) ?? []) {
    const hint = didYouMean(name, streamNames) || `; the streams are ${streamNames.join(', ')}`
    refuse(`${flag}: there is no stream ${JSON.stringify(name)}${hint}`)
  }
  return names && allStreams.filter(({ name }) => names.includes(name))
}

/** Selects the configured channels that `--channels x,y` names; all if it is not given. @throws usage.invalid */
export function chooseChannels(given: string | undefined) {
  return (configured: readonly ChannelSetting[]): readonly ChannelSetting[] =>
    checkUsage((refuse) => {
      const ids = readList('--channels', given, refuse)
      const unknown = ids?.filter((id) => configured.every(({ channelId }) => channelId !== id)) ?? []
      for (const id of unknown) refuse(`--channels: ${JSON.stringify(id)} is not among LIVEHOUSE_CHANNELS`)
      return ids === undefined ? configured : configured.filter(({ channelId }) => ids.includes(channelId))
    })
}

/** A whole number from `min` to `max`; undefined if not given. */
export function readInteger(
  flag: string,
  given: string | undefined,
  refuse: Refuse,
  max: number = Number.MAX_SAFE_INTEGER,
  min = 1,
): number | undefined {
  if (given === undefined) return undefined
  const number = /^\d+$/.test(given) ? Number(given) : Number.NaN
  if (number >= min && number <= max) return number
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  refuse(`${flag} is ${JSON.stringify(given)}; it should be a whole number ${range}`)
  return undefined
}

/** `--from` and `--to`: dates, or times of the service's wall clock in whole minutes; undefined if not given. */
export function readRange(
  { from, to }: { readonly from: string | undefined; readonly to: string | undefined },
  refuse: Refuse,
  needed: readonly ('--from' | '--to')[] = [],
): { readonly from: WallTime | undefined; readonly to: WallTime | undefined } {
  const read = (flag: '--from' | '--to', given: string | undefined): WallTime | undefined => {
    const time = given === undefined ? undefined : parseWallTime(given)
    if (time !== undefined && time % MINUTE === 0) return time
    if (given === undefined && !needed.includes(flag)) return undefined
    const shown = given === undefined ? 'is missing' : `is ${JSON.stringify(given)}`
    refuse(`${flag} ${shown}; it should be a date such as 2026-01-31, or a time in whole minutes: 2026-01-31T06:00`)
    return undefined
  }
  const range = { from: read('--from', from), to: read('--to', to) }
  if (range.from !== undefined && range.to !== undefined) refuseEmptyRange({ from: range.from, to: range.to }, refuse)
  return range
}

/** Refuses an empty range. */
export function refuseEmptyRange({ from, to }: Window, refuse: Refuse): void {
  if (from < to) return
  refuse(`--from ${formatWallMinute(from)} is not before --to ${formatWallMinute(to)}; --to is exclusive`)
}

/** Whether a time is so far ahead of this machine's clock that it lies in the future by any service's clock. */
export function isFarAhead(time: WallTime, ownMs: number, timeZone: string): boolean {
  return time > wallTimeAt(ownMs, timeZone) + 30 * DAY
}

/** Refuses bounds that lie in the future by any clock, before the service is asked for its time. */
export function refuseFarAhead(
  { from, to }: ReturnType<typeof readRange>,
  ownMs: number,
  timeZone: string,
  refuse: Refuse,
): void {
  const now = formatWallTime(wallTimeAt(ownMs, timeZone))
  for (const [flag, time] of Object.entries({ '--from': from, '--to': to }))
    if (time !== undefined && isFarAhead(time, ownMs, timeZone))
      refuse(`${flag} ${formatWallMinute(time)} lies in the future: this machine's clock shows ${now}`)
}
