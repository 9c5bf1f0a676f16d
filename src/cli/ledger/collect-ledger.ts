import type { Kysely } from 'kysely'
import { isEmptyWindow, partitionKey, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import type { Database } from '../../db/database.ts'
import { clipToChannel, partitionsOf, type PlannedChannel } from '../../pipeline/partitions.ts'
import { readGoneChannels } from '../../state/channel-states.ts'
import { readQuestions } from '../../state/questionnaires.ts'
import { type LedgerEntry, readLedger } from '../../state/read-ledger.ts'

export interface PartitionLedger extends LedgerEntry {
  /** As in the ledger, such as `channel=9`. */
  readonly partition: string
  /** What a sync wants of it, within what was asked for; undefined for a walk over the whole list. */
  readonly wanted: Window | undefined
}

export interface StreamLedger {
  readonly stream: Stream
  readonly partitions: readonly PartitionLedger[]
}

export interface LedgerRequest {
  readonly streams: readonly Stream[]
  readonly channels: readonly PlannedChannel[]
  /** Whether the channels were asked for by name: then those that are gone are shown too. */
  readonly namesChannels: boolean
  readonly window: Window
}

/** What the ledger says of every partition that a sync would read. `db`: undefined for a database without a schema. */
export async function collectLedger(
  db: Kysely<Database> | undefined,
  { streams, channels, namesChannels, window }: LedgerRequest,
): Promise<readonly StreamLedger[]> {
  const gone = db === undefined || namesChannels ? new Set<string>() : await readGoneChannels(db)
  const questions = db === undefined ? undefined : await readQuestions(db)
  const shown = channels.filter(({ channelId }) => !gone.has(channelId))
  const ledgers: StreamLedger[] = []
  for (const stream of streams) {
    const wanted = partitionsOf(stream, shown, (channelId) => questions?.get(channelId) ?? [])
      .map(({ partition, channel }) => ({
        partition: partitionKey(partition),
        window: stream.isTimeFiltered ? clipToChannel(window, channel) : undefined,
      }))
      .filter((each) => each.window === undefined || !isEmptyWindow(each.window))
    const entries = db === undefined ? undefined : await readLedger(db, stream.name, wanted)
    const partitions = wanted.map((each) => ({
      partition: each.partition,
      wanted: each.window,
      ...(entries?.get(each.partition) ?? nothingRead(each.window)),
    }))
    ledgers.push({ stream, partitions })
  }
  return ledgers
}

function nothingRead(window: Window | undefined): LedgerEntry {
  return { covered: [], gaps: window === undefined ? [] : [window], lastLanded: undefined, problems: [], accepted: [] }
}
