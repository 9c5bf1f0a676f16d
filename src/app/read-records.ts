import { isEmptyWindow, type Place, partitionKey, type Window } from '../core/slice.ts'
import { type ChannelState, readChannelStates, readGoneChannels } from '../ledger/channels.ts'
import { type LedgerEntry, readLedger } from '../ledger/open-readings.ts'
import { readQuarantineGroups, SAMPLE_LENGTH } from '../ledger/quarantine/quarantine-reasons.ts'
import { readQuestions } from '../ledger/questionnaires.ts'
import { readSource } from '../ledger/source.ts'
import type { Db } from '../store/database.ts'
import { clipToChannel, type PlannedChannel, partitionsOf } from '../sync/plan-slices.ts'
import type { ExtractionRequest } from './run-extraction.ts'
import type { ChannelSetting } from './settings.ts'

/** A partition and its entry in the ledger. */
export type PartitionLedger = LedgerEntry & Place

/** The ledger of every partition that a sync would read. Channels that are gone are included only if named. */
export async function readLedgers(
  db: Db,
  { streams, namesChannels }: Pick<ExtractionRequest, 'streams' | 'namesChannels'>,
  channels: readonly PlannedChannel[],
  window: Window,
): Promise<readonly PartitionLedger[]> {
  const gone = namesChannels ? new Set<string>() : await readGoneChannels(db)
  const included = channels.filter(({ channelId }) => !gone.has(channelId))
  const questions = await readQuestions(db)
  const ledgers: PartitionLedger[] = []
  for (const stream of streams) {
    const partitions = partitionsOf(stream, included, (channelId) => questions.get(channelId) ?? [])
      .map(({ partition, channel }) => ({
        partition: partitionKey(partition),
        window: stream.isTimeFiltered ? clipToChannel(window, channel) : undefined,
      }))
      .filter((each) => each.window === undefined || !isEmptyWindow(each.window))
    const entries = await readLedger(db, stream.name, partitions)
    for (const [partition, entry] of entries) ledgers.push({ stream: stream.name, partition, ...entry })
  }
  return ledgers
}

/** A channel that is configured, or was. */
export type ShownChannel = Omit<ChannelState, 'state'> & { readonly state: ChannelState['state'] | 'new' }

/**
 * The configured channels in their order, then the others. Uses the current configuration, even if no run has recorded
 * it yet. @param db undefined for a database without a schema
 */
export async function listChannels(db: Db | undefined, configured: readonly ChannelSetting[]) {
  const recorded = db === undefined ? new Map<string, ChannelState>() : await readChannelStates(db)
  const unread = { name: null, state: 'new', lastLandedAt: null, visitors: 0, watchRecords: 0 } as const
  const ids = new Set(configured.map(({ channelId }) => channelId))
  const current = configured.map(({ channelId, label, group, isTest }): ShownChannel => {
    const { state, ...record } = recorded.get(channelId) ?? { channelId, ...unread }
    return { ...record, label, group, isTest, state: state === 'retired' ? 'new' : state }
  })
  const former = [...recorded.values()].filter(({ channelId }) => !ids.has(channelId))
  return [...current, ...former.map((channel): ShownChannel => ({ ...channel, state: 'retired' }))]
}

/** Quarantined items by stream and reason, and the zone of their times. @param names of streams; all if undefined */
export async function listQuarantine(db: Db, names: readonly string[] | undefined) {
  const timeZone = (await readSource(db))?.timeZone ?? 'UTC'
  return { timeZone, groups: await readQuarantineGroups(db, { streams: names }), longestSample: SAMPLE_LENGTH }
}
