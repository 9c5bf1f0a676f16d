import type { Cause } from '../core/cause.ts'
import type { JobChannels } from '../core/define-job.ts'
import { operatorCommands } from '../core/outcome.ts'
import type { WallTime } from '../core/wall-clock.ts'
import type { ListedChannel } from '../ledger/channels.ts'
import { countProofs, type LedgerUnit } from '../ledger/latest-readings.ts'
import type { OpenReadings } from '../ledger/open-readings.ts'
import type { RunReport } from '../ledger/runs/run-reports.ts'
import { hasEnded } from '../ledger/runs/runs.ts'
import type { TableSize } from '../ledger/table-sizes.ts'
import { isOnlyWhenNamed, rankOf, streams } from '../streams/registry.ts'

/** The streams that a job keeps up to date, none for one that is off or reads old days only, and where. */
export interface KeepingJob {
  readonly streams: readonly string[]
  readonly channels: JobChannels
}

/** What is judged; `readHealth` says what each is. */
interface Facts extends Pick<OpenReadings, 'problems'> {
  readonly hasSource: boolean
  readonly now: WallTime
  readonly channels: readonly ListedChannel[]
  readonly questions: ReadonlyMap<string, readonly string[]>
  readonly units: readonly LedgerUnit[]
  readonly runs: readonly RunReport[]
  readonly causes: readonly Cause[]
  readonly sizes: ReadonlyMap<string, TableSize>
  readonly jobs: readonly KeepingJob[]
  readonly rangeOf: RangeOf
}

/** From when and until when a channel is read, as configured; undefined for no bound on that side. */
export type RangeOf = (channelId: string) => {
  readonly from?: WallTime | undefined
  readonly until?: WallTime | undefined
}

/** What can be wrong with a part (a stream of a channel, or of the account), the gravest first. */
const faults = ['problem', 'unread', 'late', 'gap'] as const
export type Fault = (typeof faults)[number]

/** A day and two hours: longer than from the end of one nightly run to the end of the next. */
const FRESH_SECONDS = 26 * 3600

/** A part of what is read (a stream of a channel, or of the account), and what is wrong with it. */
export type JudgedUnit = ReturnType<typeof judgeUnits>[number]

/** Every part that the ledger knows, and those that should have been read and were not. */
function judgeUnits(facts: Facts) {
  const isWanted = whatJobsRead(facts)
  const problems = new Set(facts.problems.map(keyOf))
  const judged = [...facts.units, ...unknownUnits(facts, isWanted)].map((unit) => {
    const { stream, channelId, isWindowed, until } = unit
    // Whole lists have no range: they are read again and again.
    const end = (channelId === null || !isWindowed ? undefined : facts.rangeOf(channelId).until) ?? Infinity
    // Kept up to date: it has not come to its end, and a job (or cron) reads it.
    const isKept = isWanted(stream, channelId) && (until === null || until < end)
    const wanted = isKept ? Math.min(facts.now - FRESH_SECONDS, end) : -Infinity
    return { ...unit, isKept, fault: faultOf(unit, problems.has(keyOf(unit)), wanted) }
  })
  return judged.toSorted((a, b) => rankOf(a.stream) - rankOf(b.stream))
}

/** What is wrong with a part: only the gravest, to tell each fault once. `wanted`: how far it should be read. */
function faultOf({ stream, reach, gaps }: LedgerUnit, hasProblem: boolean, wanted: WallTime): Fault | undefined {
  if (isOnlyWhenNamed(stream)) return undefined
  if (hasProblem) return 'problem'
  if (wanted > (reach ?? -Infinity)) return reach === null ? 'unread' : 'late'
  return gaps > 0 ? 'gap' : undefined
}

/**
 * Whether a stream of a channel, or of the account, is kept up to date. Where jobs read the stream, they name the
 * channels; otherwise, such as with a sync by cron, all channels are.
 */
type IsWanted = (stream: string, channelId: string | null) => boolean

const nothing = {
  proofs: [],
  since: null,
  until: null,
  leastCovered: '',
  reach: null,
  gaps: 0,
  lastLandedAt: null,
  lastLandedProof: null,
  verifiedAt: null,
  lastRunId: '',
}

/** Parts that the ledger does not know, of streams that are read in other channels or by a job. */
function unknownUnits({ units, channels, jobs }: Facts, isWanted: IsWanted): readonly LedgerUnit[] {
  const known = new Set(units.map(keyOf))
  const read = new Set([...units.map(({ stream }) => stream), ...jobs.flatMap((job) => job.streams)])
  const active = channels.flatMap(({ channelId, state }) => (state === 'active' ? [channelId] : []))
  return streams.flatMap(({ name: stream, partitionedBy, isTimeFiltered: isWindowed }) => {
    // Signups have a part only where there is a questionnaire.
    const places = partitionedBy === 'account' ? [null] : partitionedBy === 'channel/question' ? [] : active
    const parts = places.map((channelId) => ({ ...nothing, stream, channelId, isWindowed }))
    return parts.filter((part) => read.has(stream) && !known.has(keyOf(part)) && isWanted(stream, part.channelId))
  })
}

const keyOf = ({ stream, channelId }: Pick<LedgerUnit, 'stream' | 'channelId'>) => `${stream} ${channelId}`

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

/** A fault that the same channels have in some streams. */
export interface Finding {
  readonly kind: Fault
  readonly streams: readonly string[]
  /** Empty for streams of the account. */
  readonly channels: readonly string[]
  /** Up to when all of these channels have been read; null where one never was. */
  readonly since: WallTime | null
}

/**
 * The answer that the page begins with. `empty`: nothing has run; `first`: the first sync has not ended; `complete`:
 * every part is read, proven and fresh; `incomplete`: `findings` or `failedRun` say why not.
 */
export interface Verdict {
  readonly status: 'empty' | 'first' | 'complete' | 'incomplete'
  readonly findings: readonly Finding[]
  /** The last run, where alerts tell that it failed and no finding shows it. */
  readonly failedRun: { readonly runId: string; readonly command: string } | undefined
  readonly isRunning: boolean
}

/** The last run that read from the service; actions of operators do not count. */
export function lastReading(runs: readonly RunReport[]): RunReport | undefined {
  const commands = new Set<string>(Object.values(operatorCommands))
  return runs.find((run) => hasEnded(run) && !commands.has(run.command))
}

/** Judges what should be read, whether all is complete, and how each stream stands. */
export function judgeHealth(facts: Facts) {
  const judged = judgeUnits(facts)
  return { judged, verdict: judge(facts, judged), streams: judgeStreams(facts) }
}

function judge({ runs, units, causes }: Facts, judged: readonly JudgedUnit[]): Verdict {
  const isRunning = runs.some(({ status }) => status === 'running')
  if (runs.length === 0) return { status: 'empty', findings: [], failedRun: undefined, isRunning }
  const findings = findingsOf(judged)
  const last = lastReading(runs)
  const failed = causes.find((each) => each.kind === 'run' && each.status === 'failed' && each.name === last?.command)
  const runId = failed?.kind === 'run' ? failed.runId : null
  const isSaid = findings.some(({ kind }) => kind === 'problem')
  const failedRun = last && runId !== null && !isSaid ? { runId, command: last.command } : undefined
  const isComplete =
    findings.length === 0 && failedRun === undefined && units.some(({ stream }) => !isOnlyWhenNamed(stream))
  // One that waits has left some for the next.
  const isFirst =
    (isRunning || findings.length === 0) && !lastReading(runs.filter(({ status }) => status !== 'waiting'))
  const status = isFirst ? 'first' : isComplete ? 'complete' : 'incomplete'
  return { status, findings, failedRun, isRunning }
}

/** One for each set of channels with the same fault; the gravest first. */
function findingsOf(units: readonly JudgedUnit[]): readonly Finding[] {
  const byFault = Map.groupBy(units, ({ fault }) => fault)
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
 * How far some parts have been read. `behind`: channels with a fault, null for the account. `until`: up to when the
 * others have been read, or those behind where there are no others; undefined for no such time. `all`: the number of
 * channels, 1 for the account. Whole lists do not count beside ranges, nor parts that have ended beside others.
 */
export function readProgressOf(units: readonly JudgedUnit[]) {
  const kept = units.filter(({ isKept }) => isKept)
  const nightly = kept.filter(({ stream }) => !isOnlyWhenNamed(stream))
  const counted = [nightly, kept].find((some) => some.length > 0) ?? units
  const channels = new Set(counted.flatMap(({ channelId }) => channelId ?? []))
  const behind = new Set(counted.filter(({ fault }) => fault !== undefined).map(({ channelId }) => channelId))
  const whole = counted.filter(({ channelId }) => !behind.has(channelId))
  const meant = whole.length > 0 ? whole : counted
  const windowed = meant.filter(({ isWindowed }) => isWindowed)
  const until = Math.min(...(windowed.length > 0 ? windowed : meant).map(({ reach }) => reach ?? -Infinity))
  return { until: Number.isFinite(until) ? until : undefined, all: Math.max(1, channels.size), behind: [...behind] }
}

/** A stream of the default sync, over the partitions of active channels and of the account. */
export type StreamHealth = ReturnType<typeof judgeStreams>[number]

/** Stream by stream. `facts`: undefined for a database without a schema. */
export function judgeStreams(facts?: Facts) {
  const active = facts?.channels.filter(({ state }) => state === 'active') ?? []
  const hasQuestions = active.some(({ channelId }) => facts?.questions.has(channelId))
  return streams.map(({ name, table, partitionedBy }) => ({
    stream: name,
    // Null while it has no table.
    rows: facts?.sizes.get(table) ?? null,
    // Read channel by channel, or by questionnaire, and there is none.
    isEmpty:
      facts?.hasSource === true &&
      partitionedBy !== 'account' &&
      !(partitionedBy === 'channel/question' ? hasQuestions : active.length > 0),
    ...summarize(facts?.units.filter(({ stream }) => stream === name) ?? [], facts?.rangeOf),
  }))
}

function summarize(units: readonly LedgerUnit[], rangeOf: RangeOf = () => ({})) {
  const windowed = units.filter(({ isWindowed }) => isWindowed)
  // A channel that is covered up to its end is not the least covered while another goes on.
  const goingOn = windowed.filter(({ channelId, until }) => (until ?? 0) < (rangeOf(channelId ?? '').until ?? Infinity))
  const [least] = (goingOn.length > 0 ? goingOn : windowed).toSorted((a, b) => (a.until ?? 0) - (b.until ?? 0))
  const landed = units.filter(({ lastLandedAt }) => lastLandedAt !== null)
  const [last] = landed.toSorted((a, b) => Number(b.lastLandedAt) - Number(a.lastLandedAt))
  const [lastRunId = null] = units.map((unit) => unit.lastRunId).toSorted((a, b) => Number(BigInt(b) - BigInt(a)))
  return { lastRunId, last, least, proofs: countProofs(units) }
}
