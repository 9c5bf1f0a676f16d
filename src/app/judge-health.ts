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

/** The streams and channels that a job keeps up to date; no streams if the job is off or not a sync. */
export interface JobScope {
  readonly streams: readonly string[]
  readonly channels: JobChannels
}

/** The facts to judge; `readHealth` describes them. */
interface Facts extends Pick<OpenReadings, 'problems'> {
  readonly hasSource: boolean
  readonly now: WallTime
  readonly channels: readonly ListedChannel[]
  readonly questions: ReadonlyMap<string, readonly string[]>
  readonly units: readonly LedgerUnit[]
  readonly runs: readonly RunReport[]
  readonly causes: readonly Cause[]
  readonly sizes: ReadonlyMap<string, TableSize>
  readonly jobs: readonly JobScope[]
  readonly rangeOf: RangeOf
}

/** The configured range to read of a channel; a bound is undefined if not configured. */
export type RangeOf = (channelId: string) => {
  readonly from?: WallTime | undefined
  readonly until?: WallTime | undefined
}

/** What can be wrong with a unit (a stream of a channel, or of the account), the most serious first. */
const faults = ['problem', 'unread', 'late', 'gap'] as const
export type Fault = (typeof faults)[number]

/** 26 hours: longer than the time between the ends of two nightly runs. */
const FRESH_SECONDS = 26 * 3600

/** A stream of a channel, or of the account, and what is wrong with it. */
export type JudgedUnit = ReturnType<typeof judgeUnits>[number]

/** Judges every unit in the ledger, and those that should have been read but never were. */
function judgeUnits(facts: Facts) {
  const isWanted = createIsWanted(facts)
  const problems = new Set(facts.problems.map(keyOf))
  const judged = [...facts.units, ...findUnknownUnits(facts, isWanted)].map((unit) => {
    const { stream, channelId, isWindowed, until } = unit
    // Whole lists have no end: every sync reads them again.
    const end = (channelId === null || !isWindowed ? undefined : facts.rangeOf(channelId).until) ?? Infinity
    // Whether a job, or a sync by cron, still reads the unit: it has not reached its configured end.
    const isKept = isWanted(stream, channelId) && (until === null || until < end)
    const expectedReach = isKept ? Math.min(facts.now - FRESH_SECONDS, end) : -Infinity
    return { ...unit, isKept, fault: faultOf(unit, problems.has(keyOf(unit)), expectedReach) }
  })
  return judged.toSorted((a, b) => rankOf(a.stream) - rankOf(b.stream))
}

/** The most serious fault of a unit, so that only one is reported. `expectedReach`: how far it should be read. */
function faultOf({ stream, reach, gaps }: LedgerUnit, hasProblem: boolean, expectedReach: WallTime): Fault | undefined {
  if (isOnlyWhenNamed(stream)) return undefined
  if (hasProblem) return 'problem'
  if (expectedReach > (reach ?? -Infinity)) return reach === null ? 'unread' : 'late'
  return gaps > 0 ? 'gap' : undefined
}

const unread = {
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

/** Units that are not in the ledger, of streams that a job reads or that the ledger has for other channels. */
function findUnknownUnits({ units, channels, questions, jobs }: Facts, isWanted: IsWanted): readonly LedgerUnit[] {
  const keys = new Set(units.map(keyOf))
  const read = new Set([...units.map(({ stream }) => stream), ...jobs.flatMap((job) => job.streams)])
  const active = channels.flatMap(({ channelId, state }) => (state === 'active' ? [channelId] : []))
  return streams.flatMap(({ name: stream, partitionedBy, isTimeFiltered: isWindowed }) => {
    // Signups have a unit only in channels with a questionnaire.
    const withUnit = partitionedBy === 'channel/question' ? active.filter((id) => questions.has(id)) : active
    const places = partitionedBy === 'account' ? [null] : withUnit
    const parts = places.map((channelId) => ({ ...unread, stream, channelId, isWindowed }))
    return parts.filter((part) => read.has(stream) && !keys.has(keyOf(part)) && isWanted(stream, part.channelId))
  })
}

const keyOf = ({ stream, channelId }: Pick<LedgerUnit, 'stream' | 'channelId'>) => `${stream} ${channelId}`

type IsWanted = ReturnType<typeof createIsWanted>

/**
 * Returns a function that tells whether a stream of a channel, or of the account, should be kept up to date. If jobs
 * read the stream, only their channels should; if none does, as with a sync by cron, all channels should.
 */
function createIsWanted({ jobs, channels }: Facts) {
  const groupOf = new Map(channels.map(({ channelId, group }) => [channelId, group]))
  const readers = jobs.map(({ streams, channels: chosen }) => {
    const ids = new Set(Array.isArray(chosen) ? chosen : [])
    const reads = (channelId: string) =>
      chosen === 'all' || ids.has(channelId) || ('group' in chosen && groupOf.get(channelId) === chosen.group)
    return { streams, reads }
  })
  return (stream: string, channelId: string | null) => {
    const matching = readers.filter((reader) => reader.streams.includes(stream))
    return matching.length === 0 || channelId === null || matching.some(({ reads }) => reads(channelId))
  }
}

/** A fault, the streams that have it, and in which channels. */
export type Finding = ReturnType<typeof groupFindings>[number]

export type Verdict = ReturnType<typeof judge>

/** The last run that has ended, other than an operator's action. */
export function findLastReading(runs: readonly RunReport[]): RunReport | undefined {
  const commands = new Set<string>(Object.values(operatorCommands))
  return runs.find((run) => hasEnded(run) && !commands.has(run.command))
}

/** Judges each unit, the warehouse as a whole, and each stream. */
export function judgeHealth(facts: Facts) {
  const judged = judgeUnits(facts)
  return { judged, verdict: judge(facts, judged), streams: judgeStreams(facts, judged) }
}

/**
 * Makes the verdict at the top of the status page. `empty`: nothing has run; `first`: the first sync has not ended;
 * `complete`: every unit is read, proven and fresh; `incomplete`: `findings` or `failedRun` (the last run, if it failed
 * and no finding shows that) say why not.
 */
function judge({ runs, units, causes }: Facts, judged: readonly JudgedUnit[]) {
  const isRunning = runs.some(({ status }) => status === 'running')
  if (runs.length === 0) return { status: 'empty', findings: [], failedRun: undefined, isRunning } as const
  const findings = groupFindings(judged)
  const last = findLastReading(runs)
  const failed = causes.find((each) => each.kind === 'run' && each.status === 'failed' && each.name === last?.command)
  const runId = failed?.kind === 'run' ? failed.runId : null
  const isReported = findings.some(({ kind }) => kind === 'problem')
  const failedRun = last && runId !== null && !isReported ? { runId, command: last.command } : undefined
  const isComplete =
    findings.length === 0 && failedRun === undefined && units.some(({ stream }) => !isOnlyWhenNamed(stream))
  // A run that ended `waiting` has left part of the first sync to the next run.
  const isFirst =
    (isRunning || findings.length === 0) && !findLastReading(runs.filter(({ status }) => status !== 'waiting'))
  const status = isFirst ? 'first' : isComplete ? 'complete' : 'incomplete'
  return { status, findings, failedRun, isRunning } as const
}

/**
 * One finding for all streams with the same fault in the same channels (none for those of the account); the most
 * serious fault first. `since`: the time up to which all of these have been read; null if one has never been read.
 */
function groupFindings(units: readonly JudgedUnit[]) {
  const byFault = Map.groupBy(units, ({ fault }) => fault)
  return faults.flatMap((kind) => {
    const byStream = Map.groupBy(byFault.get(kind) ?? [], ({ stream }) => stream)
    const byChannels = Map.groupBy(byStream, ([, parts]) => JSON.stringify(parts.map(({ channelId }) => channelId)))
    return [...byChannels.values()].map((found) => {
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
 * How far these units have been read. `behind`: the channels with a fault, null for the account. `until`: the time up
 * to which the others have been read (all units, if each has a fault); undefined if there is none. `all`: the number of
 * channels, 1 for the account. Whole lists count only if no unit has a range; units that are over, only if all are.
 */
export function summarizeProgress(units: readonly JudgedUnit[]) {
  const kept = units.filter(({ isKept }) => isKept)
  const nightly = kept.filter(({ stream }) => !isOnlyWhenNamed(stream))
  const relevant = [nightly, kept].find((some) => some.length > 0) ?? units
  const channels = new Set(relevant.flatMap(({ channelId }) => channelId ?? []))
  const behind = new Set(relevant.filter(({ fault }) => fault !== undefined).map(({ channelId }) => channelId))
  const faultless = relevant.filter(({ channelId }) => !behind.has(channelId))
  const measured = faultless.length > 0 ? faultless : relevant
  const windowed = measured.filter(({ isWindowed }) => isWindowed)
  const until = Math.min(...(windowed.length > 0 ? windowed : measured).map(({ reach }) => reach ?? -Infinity))
  return { until: Number.isFinite(until) ? until : undefined, all: Math.max(1, channels.size), behind: [...behind] }
}

/** The state of a stream of the default sync, in all active channels or in the account. */
export type StreamHealth = ReturnType<typeof judgeStreams>[number]

/** Judges each stream. `facts`: undefined for a database without a schema. */
export function judgeStreams(facts?: Facts, judged: readonly JudgedUnit[] = []) {
  const active = facts?.channels.filter(({ state }) => state === 'active') ?? []
  const hasQuestions = active.some(({ channelId }) => facts?.questions.has(channelId))
  const oldestFirst = judged.toSorted((a, b) => Number(a.lastLandedAt) - Number(b.lastLandedAt))
  return streams.map(({ name, table, partitionedBy }) => ({
    stream: name,
    /** The unit that landed the longest ago, or never, of those that were ever requested and are kept up to date. */
    stalest: oldestFirst.find(({ stream, isKept, lastRunId }) => isKept && lastRunId !== '' && stream === name),
    // Null if its table does not exist.
    rows: facts?.sizes.get(table) ?? null,
    // Whether there is no channel, or no questionnaire, to read it from.
    isEmpty:
      facts?.hasSource === true &&
      partitionedBy !== 'account' &&
      !(partitionedBy === 'channel/question' ? hasQuestions : active.length > 0),
    ...summarize(facts?.units.filter(({ stream }) => stream === name) ?? [], facts?.rangeOf),
  }))
}

function summarize(units: readonly LedgerUnit[], rangeOf: RangeOf = () => ({})) {
  const windowed = units.filter(({ isWindowed }) => isWindowed)
  // A channel that is covered up to its configured end counts only if all channels are.
  const goingOn = windowed.filter(({ channelId, until }) => (until ?? 0) < (rangeOf(channelId ?? '').until ?? Infinity))
  const [least] = (goingOn.length > 0 ? goingOn : windowed).toSorted((a, b) => (a.until ?? 0) - (b.until ?? 0))
  const landed = units.filter(({ lastLandedAt }) => lastLandedAt !== null)
  const [last] = landed.toSorted((a, b) => Number(b.lastLandedAt) - Number(a.lastLandedAt))
  const [lastRunId = null] = units.map((unit) => unit.lastRunId).toSorted((a, b) => Number(BigInt(b) - BigInt(a)))
  return { lastRunId, last, least, proofs: countProofs(units) }
}
