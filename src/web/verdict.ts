import type { StreamName } from '../core/stream.ts'
import type { WallTime } from '../core/wall-clock.ts'
import { findStream, listOf, streams } from '../streams/registry.ts'
import type { LedgerUnit } from '../ledger/latest-readings.ts'
import { operatorCommands } from '../app/operator-actions.ts'
import { hasEnded } from '../ledger/runs.ts'
import type { Facts } from './facts.ts'

/** From when and until when a channel is read; undefined: without end on that side. */
export interface ChannelRange {
  readonly from?: WallTime | undefined
  readonly until?: WallTime | undefined
}

/** The range of a channel, as configured. */
export type RangeOf = (channelId: string) => ChannelRange

/** Why it cannot be said that something is there, the gravest first. */
const faults = ['problem', 'unread', 'late', 'gap'] as const
export type Fault = (typeof faults)[number]

/** What should have been read, and what of it is not there. */
export interface Expectations {
  /**
   * Whether a stream of a channel is kept up to date. Where jobs read the stream, they say of which channels; else,
   * such as where cron runs a sync, of all.
   */
  readonly isWanted: (stream: string, channelId: string) => boolean
  readonly rangeOf: RangeOf
  /** What is wrong with a part of a stream: the gravest only, so that each fault is said once. */
  readonly faultOf: (unit: LedgerUnit) => Fault | undefined
  /** Streams of which nothing at all was read in a channel, and should have been. */
  readonly unreadOf: (channelId: string) => readonly StreamName[]
}

/** A night and two hours: longer than from one nightly run to the end of the next. */
const FRESH_SECONDS = 26 * 3600

/** These have a partition in each channel; signups only where there is a questionnaire. */
const inEachChannel = streams.flatMap(({ name, partitionedBy }) =>
  /^channel(\/type)?$/.test(partitionedBy) ? [name] : [],
)
const byQuestion = new Set(streams.flatMap((stream) => (listOf(stream) ? [stream.name] : [])))

/** Works out what is expected; quick to ask for thousands of channels. */
export function createExpectations(facts: Facts, rangeOf: RangeOf = () => ({})): Expectations {
  const { channels, units, now } = facts
  const isWanted = whatJobsRead(facts)
  const problems = new Set(facts.problems.map(keyOf))
  const known = new Set(units.map(keyOf))
  const isRead = new Set(units.map(({ stream }) => stream))
  const isActive = new Set(channels.flatMap(({ channelId, state }) => (state === 'active' ? [channelId] : [])))
  const named = new Set(facts.jobs.flatMap((job) => job.streams))
  return {
    isWanted,
    rangeOf,
    faultOf: (unit) => {
      const { stream, channelId, reach } = unit
      if (isAskedFor(stream)) return undefined
      if (problems.has(keyOf(unit))) return 'problem'
      if (channelId === null || isWanted(stream, channelId)) {
        if (reach === null) return 'unread'
        const wanted = now - FRESH_SECONDS
        if (reach < Math.min(wanted, endOf(unit, rangeOf) ?? wanted)) return 'late'
      }
      return unit.gaps > 0 ? 'gap' : undefined
    },
    unreadOf: (channelId) =>
      inEachChannel.filter(
        (stream) =>
          isActive.has(channelId) &&
          (isRead.has(stream) || named.has(stream)) &&
          !known.has(keyOf({ stream, channelId })) &&
          isWanted(stream, channelId),
      ),
  }
}

function keyOf({ stream, channelId }: Pick<LedgerUnit, 'stream' | 'channelId'>): string {
  return `${stream} ${channelId}`
}

function whatJobsRead({ jobs, channels }: Facts): Expectations['isWanted'] {
  const groupOf = new Map(channels.map(({ channelId, group }) => [channelId, group]))
  const readers = new Map<string, ((channelId: string) => boolean)[]>()
  for (const { streams, channels: chosen } of jobs) {
    const ids = new Set(Array.isArray(chosen) ? chosen : [])
    const reads = (channelId: string): boolean =>
      chosen === 'all' || ids.has(channelId) || ('group' in chosen && groupOf.get(channelId) === chosen.group)
    for (const stream of streams) readers.set(stream, [...(readers.get(stream) ?? []), reads])
  }
  return (stream, channelId) => readers.get(stream)?.some((reads) => reads(channelId)) ?? true
}

/** Ten calls a day: read when it is asked for, and never complete in a night. */
export function isAskedFor(stream: StreamName): boolean {
  return findStream(stream)?.isBudgeted === true
}

/** Whether all that will ever be read of it is there. */
function isOver(unit: LedgerUnit, { rangeOf }: Expectations): boolean {
  const end = endOf(unit, rangeOf)
  return end !== undefined && unit.until !== null && unit.until >= end
}

/** Until when it is read; undefined for what has no end. Whole lists are walked on: they tell of no time. */
function endOf({ channelId, isWindowed }: LedgerUnit, rangeOf: RangeOf): WallTime | undefined {
  return channelId === null || !isWindowed ? undefined : rangeOf(channelId).until
}

/** The same thing wrong with the same channels of one stream or of several. */
export interface Finding {
  readonly kind: Fault
  readonly streams: readonly string[]
  /** None where the streams are of the account. */
  readonly channels: readonly string[]
  /** After which nothing is there, at the least; null where nothing is. */
  readonly since: WallTime | null
}

/**
 * The answer that the page begins with. `empty`: nothing has run; `first`: the first sync has not ended; `complete`:
 * all that is read has been read, proven, and lately; `incomplete`: not so, and `findings` or `failedRun` say why.
 */
export interface Verdict {
  readonly status: 'empty' | 'first' | 'complete' | 'incomplete'
  readonly findings: readonly Finding[]
  /** The last run, where it stopped before it could leave a slice that says so. */
  readonly failedRun: { readonly runId: string; readonly command: string } | undefined
  readonly isRunning: boolean
  /** What is kept up to date: neither what has come to its end nor channels that no job reads a stream of. */
  readonly kept: ReadonlySet<LedgerUnit>
}

/** The last run that asked the service for anything: what an operator does beside that says nothing of a night. */
export function lastReading(runs: Facts['runs']): Facts['runs'][number] | undefined {
  return runs.find((run) => hasEnded(run) && !operatorCommands.includes(run.command))
}

/** Judges what is known. */
export function judge(facts: Facts, expectations: Expectations = createExpectations(facts)): Verdict {
  const { runs, units } = facts
  const isRunning = runs.some(({ status }) => status === 'running')
  const kept = new Set(keptOf(units, expectations))
  const nothing = { findings: [], failedRun: undefined, isRunning, kept }
  if (runs.length === 0) return { status: 'empty', ...nothing }
  const findings = findingsOf(facts, expectations)
  const last = lastReading(runs)
  const isTold = findings.some(({ kind }) => kind === 'problem')
  const failedRun = last?.status === 'failed' && !isTold ? { runId: last.runId, command: last.command } : undefined
  const isComplete = findings.length === 0 && failedRun === undefined && units.some(({ stream }) => !isAskedFor(stream))
  const isFirst = isRunning && last === undefined
  return { ...nothing, status: isFirst ? 'first' : isComplete ? 'complete' : 'incomplete', findings, failedRun }
}

function keptOf(units: readonly LedgerUnit[], expectations: Expectations): readonly LedgerUnit[] {
  return units.filter((unit) => {
    const { stream, channelId } = unit
    return (channelId === null || expectations.isWanted(stream, channelId)) && !isOver(unit, expectations)
  })
}

/** One for each set of channels with the same fault; the gravest first. */
function findingsOf(facts: Facts, { faultOf, unreadOf }: Expectations): readonly Finding[] {
  const found = facts.units.flatMap((unit) => {
    const kind = faultOf(unit)
    return kind === undefined ? [] : [{ kind, stream: unit.stream, channelId: unit.channelId, reach: unit.reach }]
  })
  const unread = [
    ...facts.channels.flatMap(({ channelId }) => unreadOf(channelId).map((stream) => ({ stream, channelId }))),
    ...neverRead(facts).map((stream) => ({ stream, channelId: null })),
  ].map((each) => ({ ...each, kind: 'unread' as const, reach: null }))
  const byStream = Map.groupBy([...found, ...unread], ({ kind, stream }) => `${kind} ${stream}`)
  const groups = Map.groupBy(byStream.values(), ([first, ...others]) =>
    JSON.stringify([first?.kind, [first, ...others].map((each) => each?.channelId)]),
  )
  const findings = [...groups.values()].flatMap((group): Finding[] => {
    const [first] = group[0] ?? []
    if (first === undefined) return []
    const reaches = group.flat().map(({ reach }) => reach)
    return [
      {
        kind: first.kind,
        streams: group.flatMap(([each]) => each?.stream ?? []),
        channels: (group[0] ?? []).flatMap(({ channelId }) => channelId ?? []),
        since: reaches.reduce((least, reach) => (least === null || reach === null ? null : Math.min(least, reach))),
      },
    ]
  })
  return findings.toSorted((a, b) => faults.indexOf(a.kind) - faults.indexOf(b.kind))
}

/** Streams of the account that a job is to read and that left no slice yet. */
function neverRead({ jobs, units }: Facts): readonly StreamName[] {
  const read = new Set(units.map(({ stream }) => stream))
  return [...new Set(jobs.flatMap((job) => job.streams))].filter(
    (stream) => !read.has(stream) && !isAskedFor(stream) && !byQuestion.has(stream) && !inEachChannel.includes(stream),
  )
}

/** How much of some parts is there, and until when. */
export interface Standing {
  /** Until when all but `behind` is there; where nothing else is, until when these are; undefined where there is no such time. */
  readonly until: WallTime | undefined
  /** Channels; 1 where all of it is the account's. */
  readonly all: number
  /** Channels with a fault; null for the account. */
  readonly behind: readonly (string | null)[]
}

/** What is read as whole lists says nothing of ranges, and what has come to its end nothing of what goes on. */
export function standingOf(units: readonly LedgerUnit[], expectations: Expectations): Standing {
  const kept = keptOf(units, expectations)
  const nightly = kept.filter(({ stream }) => !isAskedFor(stream))
  const counted = [nightly, kept].find((some) => some.length > 0) ?? units
  const channels = Map.groupBy(counted, ({ channelId }) => channelId)
  const behind = [...channels].flatMap(([channelId, own]) => (own.some(expectations.faultOf) ? [channelId] : []))
  const isBehind = new Set(behind)
  const whole = counted.filter(({ channelId }) => !isBehind.has(channelId))
  const meant = whole.length > 0 ? whole : counted
  const windowed = meant.filter(({ isWindowed }) => isWindowed)
  const reaches = (windowed.length > 0 ? windowed : meant).map(({ reach }) => reach ?? undefined)
  const isKnown = reaches.length > 0 && !reaches.includes(undefined)
  const all = Math.max(1, channels.size - (channels.has(null) ? 1 : 0))
  return { until: isKnown ? Math.min(...reaches.map((reach) => reach ?? 0)) : undefined, all, behind }
}
