import type { Kysely } from 'kysely'
import PQueue from 'p-queue'
import type { Clock } from '../../src/core/clock.ts'
import type { Log } from '../../src/core/log.ts'
import type { FetchPage } from '../../src/core/page.ts'
import { type WallTime, wallTimeAt } from '../../src/core/wall-clock.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import { registerChannels } from '../../src/ledger/channels.ts'
import { Leases } from '../../src/ledger/leases/leases.ts'
import { startRun } from '../../src/ledger/runs/runs.ts'
import type { Database } from '../../src/store/database.ts'
import { allStreams } from '../../src/streams/registry.ts'
import { planAgain } from '../../src/sync/plan-again.ts'
import { planSync } from '../../src/sync/plan-slices.ts'
import { createReadAhead } from '../../src/sync/read-pages.ts'
import { runStreams } from '../../src/sync/run-streams.ts'
import type { RunResult } from '../../src/sync/tally.ts'
import { silentLog } from './silent-log.ts'

export const TIME_ZONE = 'Asia/Shanghai'

export interface SyncStreams {
  readonly emulator: Emulator
  readonly clock: Clock
  readonly fetchPage: FetchPage
  readonly streams: readonly string[]
  readonly historyFrom: WallTime
  /** Rows per page, up to the stream's own maximum. */
  readonly pageSize: number
  readonly pagesPerSlice: number
  readonly maxUnreadablePercent?: number
  readonly signal: AbortSignal
  readonly log?: Log
}

/** Syncs the emulator's channels by the pipeline itself, without settings and their checks. */
export async function syncStreams(
  db: Kysely<Database>,
  { emulator, clock, signal, pageSize, log = silentLog, ...options }: SyncStreams,
): Promise<RunResult> {
  const startedAt = new Date(clock.now())
  const scheduling = { concurrency: 4, order: 'newest-first', yieldsToOthers: false } as const
  const runId = await startRun(db, { command: 'sync', settings: {}, startedAt })
  const unnamed = { label: null, group: null, isTest: false, until: null }
  const channels = emulator.channelIds.map((channelId) => ({ channelId, ...unnamed }))
  await registerChannels(db, channels, runId)
  const plan = {
    channels: channels.map(({ channelId }) => ({ channelId, from: undefined, until: undefined })),
    historyFrom: options.historyFrom,
    now: wallTimeAt(clock.now(), TIME_ZONE),
    timeZone: TIME_ZONE,
  }
  await using leases = new Leases(db)
  return await runStreams(
    allStreams
      .filter(({ name }) => options.streams.includes(name))
      .map((stream) => ({ ...stream, pageSize: Math.min(pageSize, stream.pageSize) })),
    async (some, questionsOf) => await planSync(db, { ...plan, streams: some }, questionsOf),
    {
      db,
      fetchPage: options.fetchPage,
      clock,
      log,
      signal,
      report: () => {},
      runId,
      timeZone: TIME_ZONE,
      claimableMs: clock.now,
      wallTimeAt: (instantMs) => wallTimeAt(instantMs, TIME_ZONE),
      readAhead: createReadAhead(12),
      longestServed: new Map(),
      rangeEnds: new Map(),
      requireLease: leases.requirePartition,
      loadQueue: new PQueue({ concurrency: 2 }),
      pagesPerSlice: options.pagesPerSlice,
      maxUnreadablePercent: options.maxUnreadablePercent ?? 10,
    },
    { ...scheduling, leases, planAgain: (partition) => planAgain(db, partition, startedAt, TIME_ZONE) },
  )
}
