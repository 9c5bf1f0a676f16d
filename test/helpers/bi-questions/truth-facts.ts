import type { Truth, TruthRow } from '../../../src/emulator/truth.ts'

const ZONE_MS = 8 * 3_600_000
const DAY_MS = 86_400_000

export type TruthFacts = ReturnType<typeof readTruthFacts>
export type Visit = ReturnType<typeof readVisit>
export type Viewer = ReturnType<typeof readViewer>
export type Owned = ReturnType<typeof readOwned>

/** The world of the emulator in plain numbers, from which the answers are computed without SQL. */
export function readTruthFacts(truth: Truth) {
  const personOf = personsOf(truth.visitors)
  const viewers = truth.visitors.map((row) => readViewer(row, personOf(viewerKey(row))))
  const byKey = new Map(viewers.map((viewer) => [viewer.viewer, viewer]))
  return {
    viewers,
    visits: truth.watch_records.map((row) => readVisit(row, byKey)),
    gifts: truth.gifts.map((row) => readOwned(row, 'visitor_id', 'given_at', viewers)),
    signups: truth.signups.map((row) => readOwned(row, 'user_id', 'signed_up_at', viewers)),
    truth,
  }
}

export const viewerKey = (row: TruthRow) => `${textIn(row, 'channel_id')}:${textIn(row, 'user_id')}`

/** The best id of each viewer's person: follows shared ids from viewer to viewer. */
function personsOf(rows: readonly TruthRow[]): (viewer: string) => string {
  const idsOf = new Map(
    rows.map((row) => [
      viewerKey(row),
      ['outer_id', 'assign_id', 'phone'].flatMap((name, rank) => {
        const id = textIn(row, name)
        return id === null ? [] : [`${rank}${name}:${id.toLowerCase()}`]
      }),
    ]),
  )
  const sharing = Map.groupBy(
    [...idsOf].flatMap(([viewer, ids]) => ids.map((id) => ({ viewer, id }))),
    ({ id }) => id,
  )
  return (viewer) => {
    const reached = new Set([viewer])
    // The loop also visits what it adds to the set.
    for (const each of reached)
      for (const id of idsOf.get(each) ?? []) for (const other of sharing.get(id) ?? []) reached.add(other.viewer)
    const ids = [...reached].flatMap((each) => idsOf.get(each) ?? [])
    return ids.length === 0 ? `none:${viewer}` : ids.reduce((a, b) => (a < b ? a : b)).slice(1)
  }
}

function readViewer(row: TruthRow, person: string) {
  return {
    channel: textIn(row, 'channel_id') ?? '',
    viewer: viewerKey(row),
    person,
    basis: person.slice(0, person.indexOf(':')),
    phone: textIn(row, 'phone'),
    address: textIn(row, 'address'),
    firstDay: dayOf(msIn(row, 'first_login_at')),
    visits: numberIn(row, 'visit_count'),
    watch: numberIn(row, 'watch_seconds'),
    comments: numberIn(row, 'comment_count'),
  }
}

/** A visit as the service reports it, with its day and hour in Asia/Shanghai. */
function readVisit(row: TruthRow, viewers: ReadonlyMap<string, Viewer>) {
  const channel = textIn(row, 'channel_id') ?? ''
  const viewer = textIn(row, 'user_id') === null ? null : viewerKey(row)
  const enteredMs = msIn(row, 'entered_at')
  return {
    channel,
    viewer,
    person: viewers.get(viewer ?? '')?.person ?? null,
    enteredMs,
    leftMs: msIn(row, 'left_at'),
    day: dayOf(enteredMs),
    hour: Number(clockOf(enteredMs).slice(11, 13)),
    online: numberIn(row, 'online_seconds'),
    watch: numberIn(row, 'watch_seconds'),
    live: numberIn(row, 'live_seconds'),
    replay: numberIn(row, 'vod_seconds'),
    source: textIn(row, 'access_source') ?? '',
    device: textIn(row, 'device') ?? '',
  }
}

/** A gift or signup and its viewer, by viewer id or by a phone that only one viewer of the channel has. */
function readOwned(row: TruthRow, id: string, time: string, viewers: readonly Viewer[]) {
  const channel = textIn(row, 'channel_id') ?? ''
  const [user, phone] = [textIn(row, id), textIn(row, 'phone')]
  const day = dayOf(msIn(row, time))
  if (user !== null) return { channel, viewer: `${channel}:${user}`, match: 'viewer_id', day, row }
  const same = phone === null ? [] : viewers.filter((viewer) => viewer.phone === phone)
  const [only, another] = same.filter((viewer) => viewer.channel === channel)
  if (only !== undefined && another === undefined) return { channel, viewer: only.viewer, match: 'phone', day, row }
  const isOnePerson = new Set(same.map(({ person }) => person)).size === 1
  return { channel, viewer: null, match: isOnePerson ? 'phone_person' : 'none', day, row }
}

/** The seconds of a visit: at least one, and not past the time of leaving, or past its minute if times lack seconds. */
export function stayOf({ enteredMs, leftMs, online }: Visit): number {
  const hasNoSeconds = enteredMs % 60_000 === 0 && leftMs % 60_000 === 0
  return Math.max(1, Math.min(online, (leftMs - enteredMs) / 1000 + (hasNoSeconds ? 60 : 0)))
}

/** `YYYY-MM-DD HH:MM:SS` in Asia/Shanghai. */
export const clockOf = (ms: number): string => new Date(ms + ZONE_MS).toISOString().slice(0, 19).replace('T', ' ')

/** `YYYY-MM-DD` in Asia/Shanghai; empty if the time is unknown. */
export const dayOf = (ms: number): string => (Number.isNaN(ms) ? '' : clockOf(ms).slice(0, 10))

/** Monday is 1. */
export const weekdayOf = (day: string): number => new Date(day).getUTCDay() || 7

/** The day `days` days later. */
export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)
}

/** The Monday of a day's week. */
export const weekOf = (day: string): string => addDays(day, 1 - weekdayOf(day))

export function textIn(row: TruthRow, name: string): string | null {
  const value = row[name]
  return typeof value === 'string' ? value : null
}

export const numberIn = (row: TruthRow, name: string): number => Number(row[name])

export const msIn = (row: TruthRow, name: string): number => Date.parse(textIn(row, name) ?? '')
