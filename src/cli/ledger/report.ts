import { isEmptyWindow, partitionKey, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import type { Db } from '../../store/database.ts'
import { clipToChannel, partitionsOf, type PlannedChannel } from '../../sync/plan-slices.ts'
import { readGoneChannels } from '../../ledger/channels.ts'
import { readQuestions } from '../../ledger/questionnaires.ts'
import { type LedgerEntry, type OpenReading, readLedger } from '../../ledger/open-readings.ts'
import { counted, minuteIn, rangeText } from '../format.ts'

/** More partitions than this are only counted, unless their channels were named. */
const MOST_PARTITIONS = 20
const MOST_LINES = 10

interface ShownLedger {
  readonly ledgers: readonly PartitionLedger[]
  readonly window: Window
  readonly timeZone: string
  readonly isDetailed: boolean
}

/** What is covered of each partition, for a person; only how many there are where they are many. */
export function describeLedger({ ledgers, window, timeZone, isDetailed }: ShownLedger): string[] {
  const isMany = !isDetailed && ledgers.length > MOST_PARTITIONS
  const many = `--channels shows each of the ${ledgers.length} partitions; livehouse status sums them up`
  return [
    ...(isMany ? [many, ''] : ledgers.flatMap((each) => describePartition(each, minuteIn(timeZone)))),
    `From ${rangeText(window)}, by the clock of ${timeZone}. A sync reads what is not covered, and the last days.`,
  ]
}

function describePartition(ledger: PartitionLedger, minute: (at: Date) => string): string[] {
  const { stream, partition, covered, gaps, lastLanded, open } = ledger
  const landed = lastLanded === undefined ? 'never read' : `last landed ${minute(lastLanded.at)}, ${lastLanded.proof}`
  return [
    `${stream} ${partition}: ${landed}`,
    ...atMost(covered, (window) => `  covered  ${rangeText(window)}`),
    ...atMost(gaps, (window) => `  gap      ${rangeText(window)}`),
    ...(['problem', 'accepted'] as const).flatMap((kind) => {
      const ofKind = open.filter((reading) => reading.kind === kind)
      return atMost(ofKind, describeOpen)
    }),
    '',
  ]
}

function describeOpen({ window, proof, reason, missingRows, acceptanceId }: OpenReading): string {
  const where = window === undefined ? 'whole list' : rangeText(window)
  const said =
    acceptanceId === null
      ? (reason ?? 'no reason was kept')
      : `${counted(missingRows ?? 0, 'row')} missing, by acceptance ${acceptanceId} (livehouse status)`
  return `  ${(proof ?? '').padEnd(8)} ${where}: ${said}`
}

/** The newest are at the end of ranges and at the head of problems; either way the first ones are shown. */
function atMost<T>(items: readonly T[], line: (item: T) => string): string[] {
  const rest = items.length - MOST_LINES
  return [...items.slice(0, MOST_LINES).map(line), ...(rest > 0 ? [`  … and ${rest} more`] : [])]
}

interface PartitionLedger extends LedgerEntry {
  readonly stream: string
  /** As in the ledger, such as `channel=9`. */
  readonly partition: string
}

interface LedgerRequest {
  readonly streams: readonly Stream[]
  readonly channels: readonly PlannedChannel[]
  /** Whether the channels were asked for by name: then those that are gone are shown too. */
  readonly namesChannels: boolean
  readonly window: Window
}

/** What the ledger says of every partition that a sync would read. */
export async function collectLedger(
  db: Db,
  { streams, channels, namesChannels, window }: LedgerRequest,
): Promise<readonly PartitionLedger[]> {
  const gone = namesChannels ? new Set<string>() : await readGoneChannels(db)
  const questions = await readQuestions(db)
  const shown = channels.filter(({ channelId }) => !gone.has(channelId))
  const ledgers: PartitionLedger[] = []
  for (const stream of streams) {
    const wanted = partitionsOf(stream, shown, (channelId) => questions.get(channelId) ?? [])
      .map(({ partition, channel }) => ({
        partition: partitionKey(partition),
        window: stream.isTimeFiltered ? clipToChannel(window, channel) : undefined,
      }))
      .filter((each) => each.window === undefined || !isEmptyWindow(each.window))
    const entries = await readLedger(db, stream.name, wanted)
    for (const [partition, entry] of entries) ledgers.push({ stream: stream.name, partition, ...entry })
  }
  return ledgers
}
