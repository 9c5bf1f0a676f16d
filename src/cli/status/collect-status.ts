import { plannedChannel, type ChannelSetting } from '../../app/settings.ts'
import { readAcceptances } from '../../ledger/acceptances.ts'
import { type OverviewQuestion, readOverview } from '../../ledger/health.ts'
import { countProofs, type LedgerUnit } from '../../ledger/latest-readings.ts'
import { readQuarantine } from '../../ledger/quarantine-reasons.ts'
import { readQuestions } from '../../ledger/questionnaires.ts'
import type { Db } from '../../store/database.ts'
import { streams } from '../../streams/registry.ts'

/** What `status` shows. */
export type Status = Awaited<ReturnType<typeof collectStatus>>
/** A stream of the default sync, over the partitions of active channels and of the account. */
export type StreamStatus = Status['streams'][number]

/** Reads what `status` shows. `db`: undefined for a database without a schema; `channels`: the configured ones. */
export async function collectStatus(
  db: Db | undefined,
  question: OverviewQuestion,
  channels: readonly ChannelSetting[],
) {
  const overview = db && (await readOverview(db, question))
  const listed = db && (await readQuestions(db, 'listed'))
  const hasQuestions = overview?.channels.some(({ state, channelId }) => state === 'active' && listed?.has(channelId))
  const ends = new Map(channels.map(plannedChannel).map(({ channelId, until }) => [channelId, until]))
  return {
    overview,
    streams: streams.map(({ name, table, partitionedBy }) => ({
      stream: name,
      // Null while it has no table.
      rows: overview?.sizes.get(table) ?? null,
      // Read questionnaire by questionnaire, and none is listed.
      isEmpty: partitionedBy === 'channel/question' && overview?.hasSource === true && !hasQuestions,
      ...summarize(overview?.units.filter(({ stream }) => stream === name) ?? [], ends),
    })),
    quarantine: db ? await readQuarantine(db) : [],
    acceptances: db ? await readAcceptances(db) : [],
  }
}

function summarize(units: readonly LedgerUnit[], ends: ReadonlyMap<string, number | undefined>) {
  const windowed = units.filter(({ isWindowed }) => isWindowed)
  // A channel that is covered up to its end is not the least covered while another goes on.
  const goingOn = windowed.filter(({ channelId, until }) => (until ?? 0) < (ends.get(channelId ?? '') ?? Infinity))
  const [least] = (goingOn.length > 0 ? goingOn : windowed).toSorted((a, b) => (a.until ?? 0) - (b.until ?? 0))
  const [last] = units
    .filter(({ lastLandedAt }) => lastLandedAt !== null)
    .toSorted((a, b) => Number(b.lastLandedAt) - Number(a.lastLandedAt))
  const [lastRunId = null] = units.map((unit) => unit.lastRunId).toSorted((a, b) => Number(BigInt(b) - BigInt(a)))
  return { lastRunId, last, least, proofs: countProofs(units) }
}

/**
 * The streams whose newest landed slice is older than this, or that have none though there is something to read. So is
 * one that lies as far ahead: the clock of the service or of this machine was wrong.
 */
export function findStale(status: Status, maxAgeMs: number, nowMs: number): readonly StreamStatus[] {
  return status.streams.filter(({ lastRunId, last, isEmpty }) => {
    const ageMs = nowMs - (last?.lastLandedAt?.getTime() ?? -Infinity)
    return !(isEmpty && lastRunId === null) && Math.abs(ageMs) > maxAgeMs
  })
}
