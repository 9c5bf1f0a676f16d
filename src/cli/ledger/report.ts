import type { Kysely } from 'kysely'
import { isEmptyWindow, partitionKey, type Window } from '../../core/slice.ts'
import type { Stream } from '../../core/stream.ts'
import { formatWallMinute } from '../../core/wall-clock.ts'
import type { Database } from '../../store/database.ts'
import { clipToChannel, partitionsOf, type PlannedChannel } from '../../sync/partitions.ts'
import { readGoneChannels } from '../../ledger/channel-states.ts'
import { readQuestions } from '../../ledger/questionnaires.ts'
import type { OpenReading } from '../../ledger/open-readings.ts'
import { type LedgerEntry, readLedger } from '../../ledger/read-ledger.ts'
import { counted, formatTable, minuteIn, rangeText } from '../format.ts'

/** More partitions than this are only counted, unless their channels were named. */
const MOST_PARTITIONS = 20
/** Lines of each kind that a partition gets. */
const MOST_LINES = 10

interface ShownLedger {
  readonly ledgers: readonly StreamLedger[]
  readonly window: Window
  readonly timeZone: string
  /** Shows each partition, however many there are. */
  readonly isDetailed: boolean
}

/** What is covered, for a person: a line a stream, and each partition where they are few or were asked for. */
export function describeLedger({ ledgers, window, timeZone, isDetailed }: ShownLedger): string[] {
  const minute = minuteIn(timeZone)
  const rows = ledgers.map(({ stream, partitions }) => {
    const last = partitions.flatMap(({ lastLanded }) => lastLanded ?? []).sort((a, b) => +b.at - +a.at)[0]
    const unread = partitions.filter(({ lastLanded }) => lastLanded === undefined).length
    return [
      stream.name,
      partitions.length,
      stream.isTimeFiltered ? leastCovered(partitions) : 'whole list',
      partitions.reduce((sum, partition) => sum + holesOf(partition).length, 0),
      unread,
      partitions.reduce((sum, { open }) => sum + open.filter(({ kind }) => kind === 'problem').length, 0),
      last === undefined ? 'never' : `${minute(last.at)}, ${last.proof}`,
    ]
  })
  const header = ['stream', 'partitions', 'covered until', 'gaps', 'never read', 'short or failed', 'last landed']
  const count = ledgers.reduce((sum, { partitions }) => sum + partitions.length, 0)
  const hasDetail = isDetailed || count <= MOST_PARTITIONS
  return [
    ...formatTable(header, rows),
    ...(hasDetail
      ? ledgers.flatMap(({ stream, partitions }) => partitions.flatMap((each) => detail(stream.name, each, minute)))
      : ['', `--channels shows each of the ${count} partitions of the channels that it names`]),
    '',
    `From ${rangeText(window)}, by the clock of ${timeZone}. A sync reads what is not covered, and the last days again.`,
  ]
}

/** Gaps that something newer than them is covered after; the youngest part is no gap but is yet to come. */
function holesOf({ covered, gaps }: PartitionLedger): readonly Window[] {
  const end = covered.at(-1)?.to ?? -Infinity
  return gaps.filter(({ to }) => to <= end)
}

function leastCovered(partitions: readonly PartitionLedger[]): string {
  const ends = partitions.map(({ covered }) => covered.at(-1)?.to)
  if (ends.length === 0 || ends.includes(undefined)) return '–'
  return formatWallMinute(Math.min(...ends.map((end) => end ?? 0)))
}

function detail(stream: string, ledger: PartitionLedger, minute: (at: Date) => string): string[] {
  const { partition, wanted, covered, gaps, lastLanded, open } = ledger
  const landed = lastLanded === undefined ? 'never read' : `last landed ${minute(lastLanded.at)}, ${lastLanded.proof}`
  return [
    '',
    `${stream} ${partition}: ${landed}`,
    ...atMost(covered, (window) => `  covered  ${rangeText(window)}`),
    ...(wanted === undefined ? [] : atMost(gaps, (window) => `  gap      ${rangeText(window)}`)),
    ...(['problem', 'accepted'] as const).flatMap((kind) => {
      const ofKind = open.filter((reading) => reading.kind === kind)
      return atMost(ofKind, describeOpen)
    }),
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
  /** As in the ledger, such as `channel=9`. */
  readonly partition: string
  /** What a sync wants of it, within what was asked for; undefined for a walk over the whole list. */
  readonly wanted: Window | undefined
}

interface StreamLedger {
  readonly stream: Stream
  readonly partitions: readonly PartitionLedger[]
}

interface LedgerRequest {
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
  return { covered: [], gaps: window === undefined ? [] : [window], lastLanded: undefined, open: [] }
}
