import { plannedChannel, type ChannelSetting } from '../../app/settings.ts'
import type { DatabaseAsItIs } from '../../app/open-database.ts'
import type { Proof } from '../../core/slice.ts'
import type { StreamName } from '../../core/stream.ts'
import type { WallTime } from '../../core/wall-clock.ts'
import {
  type Overview,
  type OverviewQuestion,
  readOverview,
  readTableSizes,
  type TableSize,
} from '../../ledger/health.ts'
import { addProofs, type LedgerUnit } from '../../ledger/latest-readings.ts'
import { type HeldLease, readLeases } from '../../ledger/leases.ts'
import { readBegunSlices } from '../../ledger/open-slices.ts'
import { type Acceptance, readAcceptances } from '../../ledger/acceptances.ts'
import { readOpenBackfills, type UnfinishedBackfill } from '../../ledger/backfills.ts'
import { readQuestions } from '../../ledger/questionnaires.ts'
import { type QuarantineCount, readQuarantineCounts } from '../../ledger/quarantine-reasons.ts'
import { readRunReports, type RunReport } from '../../ledger/run-reports.ts'
import { streams } from '../../streams/registry.ts'
import type { V1Calls } from './v1-calls.ts'

/** What the ledger says of one stream, over the partitions of active channels and of the account. */
export interface StreamState {
  /** The last run that read it, landed or not. */
  readonly lastRunId: string
  /** Undefined where no slice has landed yet. */
  readonly lastLanded: { readonly at: Date; readonly proof: Proof | null } | undefined
  /** Of the partition that is covered least far, of those that go on; null where it is not covered at all, and for whole lists. */
  readonly coveredUntil: WallTime | null
  /** That partition; null for whole lists. */
  readonly leastCovered: string | null
  /** How many partitions ended with each proof in their latest slice. */
  readonly partitions: Readonly<Partial<Record<Proof, number>>>
}

/** A stream of the default sync, read or not. */
export interface StreamStatus {
  readonly stream: StreamName
  /** Of its table; null while there is none. */
  readonly rows: TableSize | null
  /** Undefined while nothing of it has been read. */
  readonly state: StreamState | undefined
  /** Whether its lists are known, and there is none: it is read questionnaire by questionnaire. */
  readonly isEmpty: boolean
}

/** What is there only where the database is of this livehouse. */
interface CurrentStatus extends Pick<Overview, 'open' | 'openCounts'> {
  /** The service's; null before the first run. */
  readonly timeZone: string | null
  /** Who works on what. */
  readonly leases: readonly HeldLease[]
  readonly backfills: readonly UnfinishedBackfill[]
  /** Channels that the service does not know; by id. */
  readonly gone: readonly string[]
  /** Those that were not withdrawn. */
  readonly acceptances: readonly Acceptance[]
  /** Null before the first run. */
  readonly v1: V1Calls | null
}

export interface Status extends CurrentStatus {
  readonly pending: readonly string[]
  readonly streams: readonly StreamStatus[]
  readonly runs: readonly RunReport[]
  readonly quarantine: readonly QuarantineCount[]
}

const LAST_RUNS = 5
const nothing: CurrentStatus = {
  timeZone: null,
  leases: [],
  backfills: [],
  open: [],
  openCounts: { gap: 0, problem: 0, accepted: 0 },
  gone: [],
  acceptances: [],
  v1: null,
}

/** Reads what `status` shows. `channels`: the configured ones. */
export async function collectStatus(
  { db, isMigrated, pending }: DatabaseAsItIs,
  question: OverviewQuestion,
  channels: readonly ChannelSetting[],
): Promise<Status> {
  const describeStreams = (sizes: ReadonlyMap<string, TableSize>, units: readonly LedgerUnit[], hasQuestions = true) =>
    streams.map(({ name, table, partitionedBy }) => {
      const state = summarize(
        units.filter(({ stream }) => stream === name),
        channels,
      )
      const isEmpty = partitionedBy === 'channel/question' && !hasQuestions
      return { stream: name, rows: sizes.get(table) ?? null, state, isEmpty }
    })
  if (!isMigrated) return { ...nothing, pending, streams: describeStreams(new Map(), []), runs: [], quarantine: [] }
  const quarantine = await readQuarantineCounts(db)
  if (pending.length > 0) {
    const runs = await readRunReports(db, { kind: 'last', count: LAST_RUNS }, false)
    return { ...nothing, pending, streams: describeStreams(await readTableSizes(db), []), runs, quarantine }
  }
  const { units, sizes, budget, hasSource, timeZone, runs, ...overview } = await readOverview(db, question)
  const listed = await readQuestions(db, 'listed')
  const hasQuestions = overview.channels.some(({ state, channelId }) => state === 'active' && listed.has(channelId))
  return {
    timeZone: hasSource ? timeZone : null,
    pending,
    streams: describeStreams(sizes, units, hasQuestions || !hasSource),
    runs: runs.slice(0, LAST_RUNS),
    leases: await readLeases(db),
    quarantine,
    backfills: await readOpenBackfills(db),
    open: overview.open,
    openCounts: overview.openCounts,
    gone: overview.channels.flatMap(({ state, channelId }) => (state === 'gone' ? [channelId] : [])),
    acceptances: (await readAcceptances(db)).filter(({ withdrawnAt }) => withdrawnAt === null),
    v1: hasSource ? { budget, begun: await readBegunSlices(db) } : null,
  }
}

/** A channel that is covered up to its end is not the least covered while another goes on. */
function summarize(units: readonly LedgerUnit[], channels: readonly ChannelSetting[]): StreamState | undefined {
  const ends = new Map(channels.map(plannedChannel).map(({ channelId, until }) => [channelId, until]))
  const rank = ({ channelId, until }: LedgerUnit): number => {
    const end = channelId === null ? undefined : ends.get(channelId)
    if (until === null) return -Infinity
    return end !== undefined && until >= end ? until + 1e12 : until
  }
  const byName = units.toSorted((a, b) => rank(a) - rank(b) || (a.leastCovered < b.leastCovered ? -1 : 1))
  const least = byName.find(({ isWindowed }) => isWindowed)
  const landed = units.flatMap(({ lastLandedAt: at, lastLandedProof: proof }) => (at === null ? [] : [{ at, proof }]))
  const [last] = landed.toSorted((a, b) => b.at.getTime() - a.at.getTime())
  const runIds = units.map(({ lastRunId }) => BigInt(lastRunId))
  const [lastRunId] = runIds.toSorted((a, b) => (a < b ? 1 : -1))
  if (lastRunId === undefined) return undefined
  return {
    lastRunId: `${lastRunId}`,
    lastLanded: last,
    coveredUntil: least?.until ?? null,
    leastCovered: least?.leastCovered ?? null,
    partitions: addProofs(units),
  }
}

/**
 * The streams whose newest landed slice is older than this, or that have none though there is something to read. One that lies as
 * far ahead says nothing: the service, whose time it bears, or this machine shows a wrong one.
 */
export function findStale(status: Status, maxAgeMs: number, nowMs: number): readonly StreamStatus[] {
  return status.streams.filter(({ state, isEmpty }) => {
    const ageMs = nowMs - (state?.lastLanded?.at.getTime() ?? -Infinity)
    return !(isEmpty && state === undefined) && Math.abs(ageMs) > maxAgeMs
  })
}
