import type { WallTime } from '../core/wall-clock.ts'
import { findStream, rankOf, streams } from '../streams/registry.ts'
import type { LedgerUnit } from '../ledger/latest-readings.ts'
import { operatorCommands } from '../app/operator-actions.ts'
import { hasEnded } from '../ledger/runs.ts'
import type { Facts } from './facts.ts'

/** From when and until when a channel is read, as configured; undefined: without end on that side. */
export type RangeOf = (channelId: string) => {
  readonly from?: WallTime | undefined
  readonly until?: WallTime | undefined
}

/** Why it cannot be said that something is there, the gravest first. */
const faults = ['problem', 'unread', 'late', 'gap'] as const
export type Fault = (typeof faults)[number]

/** What should have been read, and what of it is not there. */
export type Expectations = ReturnType<typeof createExpectations>

/** A night and two hours: longer than from one nightly run to the end of the next. */
const FRESH_SECONDS = 26 * 3600

/** Works out what is expected; quick to ask for thousands of channels. */
export function createExpectations(facts: Facts, rangeOf: RangeOf = () => ({})) {
  const isWanted = whatJobsRead(facts)
  const problems = new Set(facts.problems.map(keyOf))
  // Whole lists have no range: they are read again and again.
  const endOf = ({ channelId, isWindowed }: LedgerUnit) =>
    channelId === null || !isWindowed ? undefined : rangeOf(channelId).until
  /** Whether it is kept up to date: it has not come to its end, and a job (or cron) reads it. */
  const isKept = (unit: LedgerUnit) => {
    const isOver = unit.until !== null && unit.until >= (endOf(unit) ?? Infinity)
    return isWanted(unit.stream, unit.channelId) && !isOver
  }
  /** What is wrong with it: the gravest only, so that each fault is said once. */
  const faultOf = (unit: LedgerUnit): Fault | undefined => {
    if (isAskedFor(unit.stream)) return undefined
    if (problems.has(keyOf(unit))) return 'problem'
    if (isKept(unit) && unit.reach === null) return 'unread'
    const wanted = Math.min(facts.now - FRESH_SECONDS, endOf(unit) ?? Infinity)
    if (isKept(unit) && unit.reach !== null && unit.reach < wanted) return 'late'
    return unit.gaps > 0 ? 'gap' : undefined
  }
  /** Every part that the ledger knows, and those that should have been read and of which nothing was. */
  const units = [...facts.units, ...unknownUnits(facts, isWanted)]
  return { units: units.toSorted((a, b) => rankOf(a.stream) - rankOf(b.stream)), rangeOf, isKept, faultOf }
}

/**
 * Whether a stream of a channel, or of the account, is kept up to date. Where jobs read the stream, they say of which
 * channels; else, such as where cron runs a sync, of all.
 */
type IsWanted = (stream: string, channelId: string | null) => boolean

const nothing = {
  proofs: [],
  since: null,
  until: null,
  leastCovered: '',
  reach: null,
  gaps: 0,
  landedAt: null,
  lastLandedAt: null,
  lastLandedProof: null,
  verifiedAt: null,
  lastRunId: '',
}

/** Parts that the ledger does not know, of streams that are read elsewhere or by a job. */
function unknownUnits({ units, channels, jobs }: Facts, isWanted: IsWanted): readonly LedgerUnit[] {
  const known = new Set(units.map(keyOf))
  const read = new Set([...units.map(({ stream }) => stream), ...jobs.flatMap((job) => job.streams)])
  const active = channels.flatMap(({ channelId, state }) => (state === 'active' ? [channelId] : []))
  // Version 1 is read where it is asked for, and nowhere else.
  const usual = streams.filter(({ isBudgeted }) => isBudgeted !== true)
  return usual.flatMap(({ name: stream, partitionedBy, isTimeFiltered: isWindowed }) => {
    // Signups have a part only where there is a questionnaire.
    const places = partitionedBy === 'account' ? [null] : partitionedBy === 'channel/question' ? [] : active
    const parts = places.map((channelId) => ({ ...nothing, stream, channelId, isWindowed }))
    return parts.filter((part) => read.has(stream) && !known.has(keyOf(part)) && isWanted(stream, part.channelId))
  })
}

function keyOf({ stream, channelId }: Pick<LedgerUnit, 'stream' | 'channelId'>): string {
  return `${stream} ${channelId}`
}

function whatJobsRead({ jobs, channels }: Facts): IsWanted {
  const groupOf = new Map(channels.map(({ channelId, group }) => [channelId, group]))
  const readers = jobs.map(({ streams, channels: chosen }) => {
    const ids = new Set(Array.isArray(chosen) ? chosen : [])
    const reads = (channelId: string) =>
      chosen === 'all' || ids.has(channelId) || ('group' in chosen && groupOf.get(channelId) === chosen.group)
    return { streams, reads }
  })
  return (stream, channelId) => {
    const own = readers.filter((reader) => reader.streams.includes(stream))
    return own.length === 0 || channelId === null || own.some(({ reads }) => reads(channelId))
  }
}

/** Ten calls a day: read when it is asked for, and never complete in a night. */
export function isAskedFor(stream: string): boolean {
  return findStream(stream)?.isBudgeted === true
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
}

/** The last run that asked the service for anything: what an operator does beside that says nothing of a night. */
export function lastReading(runs: Facts['runs']): Facts['runs'][number] | undefined {
  return runs.find((run) => hasEnded(run) && !operatorCommands.includes(run.command))
}

/** Judges what is known. */
export function judge(facts: Facts, expectations: Expectations = createExpectations(facts)): Verdict {
  const { runs, units } = facts
  const isRunning = runs.some(({ status }) => status === 'running')
  if (runs.length === 0) return { status: 'empty', findings: [], failedRun: undefined, isRunning }
  const findings = findingsOf(expectations)
  const last = lastReading(runs)
  const isSaid = findings.some(({ kind }) => kind === 'problem')
  const failedRun = last?.status === 'failed' && !isSaid ? { runId: last.runId, command: last.command } : undefined
  const isComplete = findings.length === 0 && failedRun === undefined && units.some(({ stream }) => !isAskedFor(stream))
  const isFirst = isRunning && last === undefined
  return { status: isFirst ? 'first' : isComplete ? 'complete' : 'incomplete', findings, failedRun, isRunning }
}

/** One for each set of channels with the same fault; the gravest first. */
function findingsOf({ units, faultOf }: Expectations): readonly Finding[] {
  const byFault = Map.groupBy(units, faultOf)
  return faults.flatMap((kind) => {
    const byStream = Map.groupBy(byFault.get(kind) ?? [], ({ stream }) => stream)
    const alike = Map.groupBy(byStream, ([, parts]) => JSON.stringify(parts.map(({ channelId }) => channelId)))
    return [...alike.values()].map((found) => {
      const parts = found.flatMap(([, each]) => each)
      const since = Math.min(...parts.map(({ reach }) => reach ?? -Infinity))
      return {
        kind,
        streams: found.map(([stream]) => stream),
        channels: [...new Set(parts.flatMap(({ channelId }) => channelId ?? []))],
        since: since === -Infinity ? null : since,
      }
    })
  })
}

/**
 * How much of some parts is there. `until`: when all but `behind` is there, or these where nothing else is; undefined
 * where there is no such time. `all`: channels, 1 where all of it is the account's. `behind`: channels with a fault,
 * null for the account. Whole lists do not count for ranges, nor parts that have come to their end where others go on.
 */
export function standingOf(units: readonly LedgerUnit[], { isKept, faultOf }: Expectations) {
  const kept = units.filter(isKept)
  const nightly = kept.filter(({ stream }) => !isAskedFor(stream))
  const counted = [nightly, kept].find((some) => some.length > 0) ?? units
  const channels = new Set(counted.flatMap(({ channelId }) => channelId ?? []))
  const behind = new Set(counted.filter(faultOf).map(({ channelId }) => channelId))
  const whole = counted.filter(({ channelId }) => !behind.has(channelId))
  const meant = whole.length > 0 ? whole : counted
  const windowed = meant.filter(({ isWindowed }) => isWindowed)
  const until = Math.min(...(windowed.length > 0 ? windowed : meant).map(({ reach }) => reach ?? -Infinity))
  return { until: Number.isFinite(until) ? until : undefined, all: Math.max(1, channels.size), behind: [...behind] }
}
