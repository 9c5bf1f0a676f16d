import type { StreamName } from '../../core/stream.ts'
import type { WallTime } from '../../core/wall-clock.ts'
import { wallTimeAt } from '../../core/wall-clock.ts'
import type { LedgerUnit } from '../../state/read-ledger-overview.ts'
import type { Facts } from './facts.ts'

/** A night and two hours: longer than from one nightly run to the end of the next. */
export const FRESH_MS = 26 * 3_600_000

/** Why it cannot be said that all is there. `channels` is 0 where the stream is one of the account. */
export type Finding =
  | { readonly kind: 'late'; readonly stream: string; readonly channels: number; readonly since: WallTime | null }
  | { readonly kind: 'unread'; readonly stream: string; readonly channels: number }
  | { readonly kind: 'problem'; readonly stream: string; readonly partitions: number; readonly isMore: boolean }
  | { readonly kind: 'gap'; readonly stream: string; readonly gaps: number; readonly channels: number }
  | { readonly kind: 'failedRun'; readonly runId: string; readonly command: string }

/**
 * The answer that the page begins with. `empty`: nothing has run; `first`: the first sync has not ended; `complete`: all that
 * is read has been read, proven, and lately; `incomplete`: not so, and `findings` says why.
 */
export interface Verdict {
  readonly status: 'empty' | 'first' | 'complete' | 'incomplete'
  readonly findings: readonly Finding[]
  /** Everything is there up to this time; undefined where there is no such time. */
  readonly completeUntil: WallTime | undefined
  readonly isRunning: boolean
}

/** Ten calls a day: read when it is asked for, and never complete in a night. */
const ASKED_FOR: StreamName = 'watch_records_v1'

/** These have a partition in each channel; signups only where there is a questionnaire. */
export const inEachChannel: readonly string[] = [
  'visitors',
  'watch_records',
  'gifts',
  'questionnaires',
] satisfies StreamName[]

/** Judges what is known. `endsOf`: until when a channel is read, where it is not without end. */
export function judge(facts: Facts, endsOf: EndsOf = () => undefined): Verdict {
  const { runs } = facts
  const isRunning = runs.some((run) => run.status === 'running' && facts.readAtMs - run.startedAt.getTime() < FRESH_MS)
  if (runs.length === 0) return { status: 'empty', findings: [], completeUntil: undefined, isRunning }
  const nightly = facts.units.filter(({ stream }) => stream !== ASKED_FOR)
  const unitsOf = Map.groupBy(nightly, ({ stream }) => stream)
  const findings = [
    ...failedRun(facts),
    ...neverRead(facts, unitsOf),
    ...[...unitsOf].flatMap(([stream, units]) => [
      ...problems(facts, stream),
      ...unread(facts, stream, units),
      ...late(facts, stream, units, endsOf),
      ...gaps(stream, units),
    ]),
  ]
  const isFirst = isRunning && runs.every(({ status }) => status === 'running')
  const status = isFirst ? 'first' : findings.length === 0 && nightly.length > 0 ? 'complete' : 'incomplete'
  return { status, findings, completeUntil: completeUntil(facts, nightly, endsOf), isRunning }
}

/** The wall clock until when a unit is complete; null where it is not at all. */
function reachOf(unit: LedgerUnit, timeZone: string): WallTime | null {
  if (unit.isWindowed) return unit.until
  return unit.landedAt === null ? null : wallTimeAt(unit.landedAt.getTime(), timeZone)
}

/** Until when a channel is read; undefined for one without end. */
export type EndsOf = (channelId: string) => WallTime | undefined

/** Whether what is complete of it ends longer ago than it should. */
export function isLate(facts: Facts, unit: LedgerUnit, endsOf: EndsOf): boolean {
  if (unit.stream === ASKED_FOR) return false
  const reach = reachOf(unit, facts.timeZone)
  const wanted = facts.now - FRESH_MS / 1000
  const end = unit.channelId === null ? undefined : endsOf(unit.channelId)
  return reach === null || reach < Math.min(wanted, end ?? wanted)
}

function late(facts: Facts, stream: string, units: readonly LedgerUnit[], endsOf: EndsOf): Finding[] {
  const found = units.filter((unit) => isLate(facts, unit, endsOf))
  if (found.length === 0) return []
  const reaches = found.map((unit) => reachOf(unit, facts.timeZone))
  const since = reaches.reduce((least, reach) => (least === null || reach === null ? null : Math.min(least, reach)))
  return [{ kind: 'late', stream, channels: channelsOf(found), since }]
}

/** Streams that a job is to read and that left no slice yet. Signups have one only where there is a questionnaire. */
function neverRead({ channels, jobs }: Facts, read: ReadonlyMap<string, unknown>): Finding[] {
  const wanted = new Set(jobs.flatMap(({ streams }) => streams))
  const active = channels.filter(({ state }) => state === 'active').length
  return [...wanted].flatMap((stream): Finding[] => {
    if (read.has(stream) || stream === ASKED_FOR || stream === 'signups') return []
    if (!inEachChannel.includes(stream)) return [{ kind: 'late', stream, channels: 0, since: null }]
    return active === 0 ? [] : [{ kind: 'unread', stream, channels: active }]
  })
}

function unread(facts: Facts, stream: string, units: readonly LedgerUnit[]): Finding[] {
  if (!inEachChannel.includes(stream)) return []
  const read = new Set(units.map(({ channelId }) => channelId))
  const channels = facts.channels.filter(({ state, channelId }) => state === 'active' && !read.has(channelId)).length
  return channels === 0 ? [] : [{ kind: 'unread', stream, channels }]
}

function problems({ open }: Facts, stream: string): Finding[] {
  const found = open.filter((reading) => reading.kind === 'problem' && reading.stream === stream)
  if (found.length === 0) return []
  const partitions = new Set(found.map(({ partition }) => partition)).size
  return [{ kind: 'problem', stream, partitions, isMore: open.length >= MOST_OPEN }]
}

/** As many open readings as are looked at. */
export const MOST_OPEN = 500

function gaps(stream: string, units: readonly LedgerUnit[]): Finding[] {
  const found = units.filter((unit) => unit.gaps > 0)
  if (found.length === 0) return []
  const sum = found.reduce((total, unit) => total + unit.gaps, 0)
  return [{ kind: 'gap', stream, gaps: sum, channels: channelsOf(found) }]
}

/** A run that stopped before it read anything leaves no slice to tell of it. */
function failedRun({ runs }: Facts): Finding[] {
  const last = runs.find(({ status }) => status !== 'running')
  return last?.status === 'failed' ? [{ kind: 'failedRun', runId: last.runId, command: last.command }] : []
}

function channelsOf(units: readonly LedgerUnit[]): number {
  return new Set(units.flatMap(({ channelId }) => channelId ?? [])).size
}

function completeUntil(facts: Facts, units: readonly LedgerUnit[], endsOf: EndsOf): WallTime | undefined {
  const reaches = units
    .filter(({ channelId }) => channelId === null || (endsOf(channelId) ?? facts.now) >= facts.now)
    .map((unit) => reachOf(unit, facts.timeZone))
  if (reaches.length === 0 || reaches.includes(null)) return undefined
  return Math.min(...reaches.map((reach) => reach ?? Infinity))
}
