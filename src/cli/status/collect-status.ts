import { plannedChannel } from '../../app/extraction-settings.ts'
import type { DatabaseAsItIs } from '../../app/open-database.ts'
import type { ChannelSetting } from '../../config/channel-setting.ts'
import type { Proof } from '../../core/slice.ts'
import type { StreamName } from '../../core/stream.ts'
import type { BudgetSettings } from '../../state/call-budget.ts'
import { readGoneChannels } from '../../state/channel-states.ts'
import { type HeldLease, readLeases } from '../../state/leases.ts'
import { readBegunSlices } from '../../state/open-slices.ts'
import { type Acceptance, readAcceptances } from '../../state/read-acceptances.ts'
import { readCallBudget } from '../../state/read-call-budget.ts'
import { readOpenBackfills, type UnfinishedBackfill } from '../../state/read-open-backfills.ts'
import { type OpenPoints, readOpenPoints } from '../../state/read-open-points.ts'
import { type QuarantineCount, readQuarantineCounts } from '../../state/read-quarantine-counts.ts'
import { readRuns, type RecordedRun } from '../../state/read-runs.ts'
import { readStreamStates, type StreamState } from '../../state/read-stream-states.ts'
import { readTableSizes, type TableSize } from '../../state/read-table-sizes.ts'
import { readSource } from '../../state/source.ts'
import { streams } from '../../streams/registry.ts'
import type { V1Calls } from './v1-calls.ts'

/** A stream of the default sync, read or not. */
export interface StreamStatus {
  readonly stream: StreamName
  /** Of its table; null while there is none. */
  readonly rows: TableSize | null
  /** Undefined while nothing of it has been read. */
  readonly state: StreamState | undefined
}

export interface Status {
  /** The service's; null before the first run. */
  readonly timeZone: string | null
  readonly pending: readonly string[]
  readonly streams: readonly StreamStatus[]
  readonly runs: readonly RecordedRun[]
  /** Who works on what; nothing for a database of an older livehouse. */
  readonly leases: readonly HeldLease[]
  readonly quarantine: readonly QuarantineCount[]
  readonly backfills: readonly UnfinishedBackfill[]
  readonly open: OpenPoints
  /** Channels that the service does not know; by id. */
  readonly gone: readonly string[]
  /** Those that were not withdrawn. */
  readonly acceptances: readonly Acceptance[]
  /** Null before the first run. */
  readonly v1: V1Calls | null
}

/** Whose calls on version 1 are shown, and of which day. */
export interface V1Question extends Omit<BudgetSettings, 'timeZone'> {
  readonly nowMs: number
}

const LAST_RUNS = 5
/** Gaps and shortfalls that are named one by one. */
const MOST_OPEN = 10
const noOpenPoints: OpenPoints = { gaps: [], gapCount: 0, shortfalls: [], shortfallCount: 0 }
const nothing: Omit<Status, 'streams' | 'pending'> = {
  timeZone: null,
  runs: [],
  leases: [],
  quarantine: [],
  backfills: [],
  open: noOpenPoints,
  gone: [],
  acceptances: [],
  v1: null,
}

/** Reads what `status` shows. `channels`: the configured ones. */
export async function collectStatus(
  { db, isMigrated, pending }: DatabaseAsItIs,
  question: V1Question,
  channels: readonly ChannelSetting[],
): Promise<Status> {
  if (!isMigrated) {
    return { ...nothing, pending, streams: streams.map(({ name }) => ({ stream: name, rows: null, state: undefined })) }
  }
  const sizes = await readTableSizes(db)
  const ends = channels
    .map(plannedChannel)
    .flatMap(({ channelId, until }) => (until === undefined ? [] : [[channelId, until] as const]))
  // A database of an older livehouse does not have what this reads yet.
  const states = pending.length > 0 ? new Map<string, StreamState>() : await readStreamStates(db, new Map(ends))
  const source = await readSource(db)
  return {
    timeZone: source?.timeZone ?? null,
    pending,
    streams: streams.map(({ name, table }) => {
      return { stream: name, rows: sizes.get(table) ?? null, state: states.get(name) }
    }),
    runs: await readRuns(db, LAST_RUNS, pending.length === 0),
    leases: pending.length > 0 ? [] : await readLeases(db),
    quarantine: await readQuarantineCounts(db),
    // A database of an older livehouse has no table of them yet.
    backfills: pending.length > 0 ? [] : await readOpenBackfills(db),
    open: pending.length > 0 ? noOpenPoints : await readOpenPoints(db, MOST_OPEN),
    gone: pending.length > 0 ? [] : [...(await readGoneChannels(db))].toSorted(),
    acceptances:
      pending.length > 0 ? [] : (await readAcceptances(db)).filter(({ withdrawnAt }) => withdrawnAt === null),
    v1: source === undefined || pending.length > 0 ? null : await readV1(db, source.timeZone, question),
  }
}

async function readV1(db: DatabaseAsItIs['db'], timeZone: string, { nowMs, ...settings }: V1Question) {
  const budget = await readCallBudget(db, { ...settings, timeZone }, nowMs)
  return { budget, begun: await readBegunSlices(db) }
}

/** The streams whose newest landed slice is older than this, or that have none. */
export function findStale(status: Status, maxAgeMs: number, nowMs: number): readonly StreamStatus[] {
  return status.streams.filter(({ state }) => nowMs - (state?.lastLanded?.at.getTime() ?? -Infinity) > maxAgeMs)
}

/** The proofs of a state with their numbers, the others left out. */
export function proofsOf({ partitions }: StreamState, all: readonly Proof[]): readonly (readonly [Proof, number])[] {
  return all.flatMap((proof) => {
    const count = partitions[proof] ?? 0
    return count === 0 ? [] : [[proof, count] as const]
  })
}
