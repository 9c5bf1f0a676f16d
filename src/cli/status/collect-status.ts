import type { Kysely } from 'kysely'
import { plannedChannel, type ChannelSetting } from '../../app/settings.ts'
import type { Proof } from '../../core/slice.ts'
import type { StreamName } from '../../core/stream.ts'
import type { WallTime } from '../../core/wall-clock.ts'
import { type Acceptance, readAcceptances } from '../../ledger/acceptances.ts'
import type { CallBudget } from '../../ledger/call-budget.ts'
import { type OverviewQuestion, readOverview, type TableSize } from '../../ledger/health.ts'
import { addProofs, type LedgerUnit } from '../../ledger/latest-readings.ts'
import type { OpenReadings } from '../../ledger/open-readings.ts'
import { type QuarantineCount, readQuarantineCounts } from '../../ledger/quarantine-reasons.ts'
import { readQuestions } from '../../ledger/questionnaires.ts'
import type { RunReport } from '../../ledger/run-reports.ts'
import type { Database } from '../../store/database.ts'
import { streams } from '../../streams/registry.ts'

/** What the ledger says of one stream, over the partitions of active channels and of the account. */
interface StreamState {
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

export interface Status extends Pick<OpenReadings, 'open' | 'openCounts'> {
  /** The service's; null before the first run. */
  readonly timeZone: string | null
  readonly streams: readonly StreamStatus[]
  readonly runs: readonly RunReport[]
  readonly quarantine: readonly QuarantineCount[]
  /** Channels that the service does not know; by id. */
  readonly gone: readonly string[]
  readonly acceptances: readonly Acceptance[]
  /** Of version 1, today; null before the first run. */
  readonly budget: CallBudget | null
}

const LAST_RUNS = 5

/** Reads what `status` shows. `db`: undefined for a database without a schema; `channels`: the configured ones. */
export async function collectStatus(
  db: Kysely<Database> | undefined,
  question: OverviewQuestion,
  channels: readonly ChannelSetting[],
): Promise<Status> {
  if (db === undefined) {
    const unread = streams.map(({ name }) => ({ stream: name, rows: null, state: undefined, isEmpty: false }))
    const nothing = { runs: [], quarantine: [], gone: [], acceptances: [], open: [] }
    return {
      timeZone: null,
      streams: unread,
      ...nothing,
      openCounts: { gap: 0, problem: 0, accepted: 0 },
      budget: null,
    }
  }
  const { units, sizes, hasSource, ...overview } = await readOverview(db, question)
  const listed = await readQuestions(db, 'listed')
  const hasQuestions = overview.channels.some(({ state, channelId }) => state === 'active' && listed.has(channelId))
  return {
    timeZone: hasSource ? overview.timeZone : null,
    streams: streams.map(({ name, table, partitionedBy }) => ({
      stream: name,
      rows: sizes.get(table) ?? null,
      state: summarize(
        units.filter(({ stream }) => stream === name),
        channels,
      ),
      isEmpty: partitionedBy === 'channel/question' && hasSource && !hasQuestions,
    })),
    runs: overview.runs.slice(0, LAST_RUNS),
    quarantine: await readQuarantineCounts(db),
    open: overview.open,
    openCounts: overview.openCounts,
    gone: overview.channels.flatMap(({ state, channelId }) => (state === 'gone' ? [channelId] : [])),
    acceptances: await readAcceptances(db),
    budget: hasSource ? overview.budget : null,
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
