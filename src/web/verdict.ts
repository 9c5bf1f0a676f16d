import type { StreamName } from '../core/stream.ts'
import type { WallTime } from '../core/wall-clock.ts'
import { findStream, listOf, streams } from '../streams/registry.ts'
import type { LedgerUnit } from '../ledger/latest-readings.ts'
import { hasEnded } from '../ledger/runs.ts'
import type { Facts } from './facts.ts'

/** From when and until when a channel is read; undefined: without end on that side. */
export interface ChannelRange {
  readonly from?: WallTime | undefined
  readonly until?: WallTime | undefined
}

/** The range of a channel, as configured. */
export type RangeOf = (channelId: string) => ChannelRange

/** What should have been read. */
export interface Expectations {
  /**
   * Whether a stream of a channel is kept up to date. Where jobs read the stream, they say of which channels; else,
   * such as where cron runs a sync, of all.
   */
  readonly isWanted: (stream: string, channelId: string) => boolean
  readonly rangeOf: RangeOf
}

/** Works out what is expected; quick to ask for thousands of channels. */
export function createExpectations({ jobs, channels }: Facts, rangeOf: RangeOf = () => ({})): Expectations {
  const groupOf = new Map(channels.map(({ channelId, group }) => [channelId, group]))
  const readers = new Map<string, ((channelId: string) => boolean)[]>()
  for (const { streams, channels: chosen } of jobs) {
    const ids = new Set(Array.isArray(chosen) ? chosen : [])
    const reads = (channelId: string): boolean =>
      chosen === 'all' || ids.has(channelId) || ('group' in chosen && groupOf.get(channelId) === chosen.group)
    for (const stream of streams) readers.set(stream, [...(readers.get(stream) ?? []), reads])
  }
  return {
    isWanted: (stream, channelId) => readers.get(stream)?.some((reads) => reads(channelId)) ?? true,
    rangeOf,
  }
}

/** A night and two hours: longer than from one nightly run to the end of the next. */
const FRESH_MS = 26 * 3_600_000

/** Why it cannot be said that all is there. `channels` is 0 where the stream is one of the account. */
export type Finding =
  | { readonly kind: 'late'; readonly stream: string; readonly channels: number; readonly since: WallTime | null }
  | { readonly kind: 'unread'; readonly stream: string; readonly channels: number }
  | { readonly kind: 'problem'; readonly stream: string; readonly partitions: number }
  | { readonly kind: 'gap'; readonly stream: string; readonly gaps: number; readonly channels: number }
  | { readonly kind: 'failedRun'; readonly runId: string; readonly command: string }

/**
 * The answer that the page begins with. `empty`: nothing has run; `first`: the first sync has not ended; `complete`:
 * all that is read has been read, proven, and lately; `incomplete`: not so, and `findings` says why.
 */
export interface Verdict {
  readonly status: 'empty' | 'first' | 'complete' | 'incomplete'
  readonly findings: readonly Finding[]
  /** Everything is there up to this time; undefined where there is no such time. */
  readonly completeUntil: WallTime | undefined
  readonly isRunning: boolean
  /** What is kept up to date: neither what has come to its end nor channels that no job reads a stream of. */
  readonly kept: ReadonlySet<LedgerUnit>
}

/** Ten calls a day: read when it is asked for, and never complete in a night. */
export function isAskedFor(stream: StreamName): boolean {
  return findStream(stream)?.isBudgeted === true
}

/** These have a partition in each channel; signups only where there is a questionnaire. */
const inEachChannel = new Set(
  streams.flatMap(({ name, partitionedBy }) => (/^channel(\/type)?$/.test(partitionedBy) ? [name] : [])),
)
const byQuestion = new Set(streams.flatMap((stream) => (listOf(stream) ? [stream.name] : [])))

/** Judges what is known. */
export function judge(facts: Facts, expectations: Expectations = createExpectations(facts)): Verdict {
  const { runs } = facts
  const isRunning = runs.some(({ status }) => status === 'running')
  if (runs.length === 0) return { status: 'empty', findings: [], completeUntil: undefined, isRunning, kept: new Set() }
  const nightly = facts.units.filter(({ stream }) => !isAskedFor(stream))
  const unitsOf = Map.groupBy(nightly, ({ stream }) => stream)
  const findings = [
    ...failedRun(facts),
    ...neverRead(facts, unitsOf, expectations),
    ...[...unitsOf].flatMap(([stream, units]) => [
      ...problems(facts, stream),
      ...unread(facts, stream, units, expectations),
      ...late(facts, stream, units, expectations),
      ...gaps(stream, units),
    ]),
  ]
  const isFirst = isRunning && !runs.some(hasEnded)
  const status = isFirst ? 'first' : findings.length === 0 && nightly.length > 0 ? 'complete' : 'incomplete'
  const kept = facts.units.filter((unit) => isWanted(unit, expectations) && !isOver(unit, expectations))
  const completeUntil = leastReach(kept)
  return { status, findings, completeUntil, isRunning, kept: new Set(kept) }
}

/** Whether what is complete of it ends longer ago than it should. */
export function isLate(facts: Facts, unit: LedgerUnit, expectations: Expectations): boolean {
  if (isAskedFor(unit.stream) || !isWanted(unit, expectations)) return false
  const wanted = facts.now - FRESH_MS / 1000
  return unit.reach === null || unit.reach < Math.min(wanted, endOf(unit, expectations) ?? wanted)
}

function isWanted({ stream, channelId }: LedgerUnit, expectations: Expectations): boolean {
  return channelId === null || expectations.isWanted(stream, channelId)
}

/** Whether all that will ever be read of it is there. */
export function isOver(unit: LedgerUnit, expectations: Expectations): boolean {
  const end = endOf(unit, expectations)
  return end !== undefined && unit.until !== null && unit.until >= end
}

/** Until when it is read; undefined for what has no end. Whole lists are walked on: they tell of no time. */
function endOf({ channelId, isWindowed }: LedgerUnit, { rangeOf }: Expectations): WallTime | undefined {
  return channelId === null || !isWindowed ? undefined : rangeOf(channelId).until
}

function late(facts: Facts, stream: string, units: readonly LedgerUnit[], expectations: Expectations): Finding[] {
  const found = units.filter((unit) => isLate(facts, unit, expectations))
  if (found.length === 0) return []
  const reaches = found.map(({ reach }) => reach)
  const since = reaches.reduce((least, reach) => (least === null || reach === null ? null : Math.min(least, reach)))
  return [{ kind: 'late', stream, channels: channelsOf(found), since }]
}

/** Streams that a job is to read and that left no slice yet. Signups have one only where there is a questionnaire. */
function neverRead(facts: Facts, read: ReadonlyMap<string, unknown>, expectations: Expectations): Finding[] {
  const wanted = new Set(facts.jobs.flatMap(({ streams }) => streams))
  return [...wanted].flatMap((stream): Finding[] => {
    if (read.has(stream) || isAskedFor(stream) || byQuestion.has(stream)) return []
    if (!inEachChannel.has(stream)) return [{ kind: 'late', stream, channels: 0, since: null }]
    return unread(facts, stream, [], expectations)
  })
}

function unread(
  { channels: all }: Facts,
  stream: string,
  units: readonly LedgerUnit[],
  expectations: Expectations,
): Finding[] {
  const read = new Set(units.map(({ channelId }) => channelId))
  const channels = all.filter(({ state, channelId }) => {
    return state === 'active' && !read.has(channelId) && isToBeRead(stream, channelId, expectations)
  }).length
  return channels === 0 ? [] : [{ kind: 'unread', stream, channels }]
}

/** Whether there is something of a stream in a channel that should be read, whatever has been. */
export function isToBeRead(stream: string, channelId: string, { isWanted }: Expectations): boolean {
  return inEachChannel.has(stream) && isWanted(stream, channelId)
}

function problems(facts: Facts, stream: string): Finding[] {
  const found = facts.problems.filter((each) => each.stream === stream)
  const partitions = found.reduce((sum, each) => sum + each.partitions, 0)
  return partitions === 0 ? [] : [{ kind: 'problem', stream, partitions }]
}

function gaps(stream: string, units: readonly LedgerUnit[]): Finding[] {
  const found = units.filter((unit) => unit.gaps > 0)
  if (found.length === 0) return []
  const sum = found.reduce((total, unit) => total + unit.gaps, 0)
  return [{ kind: 'gap', stream, gaps: sum, channels: channelsOf(found) }]
}

/** A run that stopped before it read anything leaves no slice to tell of it. */
function failedRun({ runs }: Facts): Finding[] {
  const last = runs.find(hasEnded)
  return last?.status === 'failed' ? [{ kind: 'failedRun', runId: last.runId, command: last.command }] : []
}

function channelsOf(units: readonly LedgerUnit[]): number {
  return new Set(units.flatMap(({ channelId }) => channelId ?? [])).size
}

function leastReach(units: readonly LedgerUnit[]): WallTime | undefined {
  const reaches = units.filter(({ stream }) => !isAskedFor(stream)).map(({ reach }) => reach)
  if (reaches.length === 0 || reaches.includes(null)) return undefined
  return Math.min(...reaches.map((reach) => reach ?? Infinity))
}
