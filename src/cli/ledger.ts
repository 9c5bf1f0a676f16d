import { openUpToDate } from '../app/open-database.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { runForget } from '../app/operator-actions.ts'
import { type PartitionLedger, readLedgers } from '../app/read-records.ts'
import { toPlannedChannel } from '../app/settings.ts'
import { readChannels, readChannelsIfAny } from '../config/read-channels.ts'
import { readDatabaseSettings, readHistoryFrom, readServiceTimeZone, readSettings } from '../config.ts'
import type { Stream } from '../core/stream.ts'
import { floorToMinute, formatWallMinute, type WallTime, wallTimeAt } from '../core/wall-clock.ts'
import type { OpenReading } from '../ledger/open-readings.ts'
import type { ForgottenPartition } from '../ledger/slices/forget-coverage.ts'
import { onlyWhenNamed, streams } from '../streams/registry.ts'
import type { CliContext } from './command.ts'
import { CHANNELS_HELP, chooseChannels, readRange, readStreams, refuseEmptyRange } from './flags.ts'
import { formatCount, formatMinuteIn, formatRange, formatTable } from './format.ts'
import { checkUsage, defineCommand } from './usage.ts'

interface LedgerRequest {
  readonly streams: readonly Stream[]
  readonly namesStreams: boolean
  readonly channels: string | undefined
  readonly from: WallTime | undefined
  readonly to: WallTime | undefined
}

/** More partitions than this are only counted, unless `--channels` is given. */
const MAX_PARTITIONS = 20
const MAX_LINES = 10

export const ledger = defineCommand(
  {
    about: 'Shows what has been read and what has not, or has a range read again. Needs only the database.',
    actions: {
      show: '(the default) what is covered, gaps, the last proof, what fell short; over 20 partitions need --channels',
      forget:
        'removes a range from what is covered or was read in vain: the next sync reads it again. No row is deleted',
    },
    defaultAction: 'show',
    flags: {
      streams: ['a,b', `only these streams (default: all but ${onlyWhenNamed})`],
      channels: ['x,y', CHANNELS_HELP],
      from: ['DATE', "a day of the service's calendar, or a time in whole minutes (show: LIVEHOUSE_HISTORY_FROM)"],
      to: ['DATE', 'the same, exclusive (default: now)'],
    },
    examples: `livehouse ledger
livehouse ledger show --streams watch_records --channels 10001589
livehouse ledger forget --streams gifts --from 2026-03-01 --to 2026-03-08
livehouse ledger forget --streams gifts`,
  },
  ({ action, values }, refuse) => {
    const given = readStreams(values.streams, refuse)
    const range = readRange(values, refuse)
    if (action === 'forget' && Object.values(values).every((value) => value === undefined))
      refuse('ledger forget needs --streams, --channels, --from or --to: without any of them all would be read again')
    return { action, streams: given ?? streams, namesStreams: given !== undefined, channels: values.channels, ...range }
  },
  async (context, { action, ...asked }) => {
    for (const line of action === 'show' ? await show(context, asked) : await forget(context, asked))
      context.print(line)
    return 0
  },
)

async function show(context: CliContext, asked: LedgerRequest): Promise<readonly string[]> {
  const { database, timeZone, channels, window } = readLedgerSettings(context, asked)
  await using opened = await openUpToDate(context, database)
  if (opened.db === undefined) return ['nothing has run yet; start with livehouse sync']
  const namesChannels = asked.channels !== undefined
  const ledgers = await readLedgers(opened.db, { streams: asked.streams, namesChannels }, channels, window)
  const isMany = !namesChannels && ledgers.length > MAX_PARTITIONS
  const many = `--channels shows each of the ${ledgers.length} partitions; livehouse status sums them up`
  return [
    ...(isMany ? [many, ''] : ledgers.flatMap((each) => describePartition(each, formatMinuteIn(timeZone)))),
    `From ${formatRange(window)}, by the clock of ${timeZone}. A sync reads what is not covered, and the last days.`,
  ]
}

function describePartition(ledger: PartitionLedger, minute: (at: Date) => string): string[] {
  const { stream, partition, covered, gaps, lastLanded, open } = ledger
  const landed = lastLanded === undefined ? 'never read' : `last landed ${minute(lastLanded.at)}, ${lastLanded.proof}`
  return [
    `${stream} ${partition}: ${landed}`,
    ...atMost(covered, (window) => `  covered  ${formatRange(window)}`),
    ...atMost(gaps, (window) => `  gap      ${formatRange(window)}`),
    ...(['problem', 'accepted'] as const).flatMap((kind) => {
      const ofKind = open.filter((reading) => reading.kind === kind)
      return atMost(ofKind, describeOpen)
    }),
    '',
  ]
}

function describeOpen({ window, proof, reason, missingRows, acceptanceId }: OpenReading): string {
  const where = window === undefined ? 'whole list' : formatRange(window)
  const detail =
    acceptanceId === null
      ? (reason ?? 'no reason was kept')
      : `${formatCount(missingRows ?? 0, 'row')} missing, by acceptance ${acceptanceId} (livehouse status)`
  return `  ${(proof ?? '').padEnd(8)} ${where}: ${detail}`
}

/** The first items, one a line, and how many more there are. */
function atMost<T>(items: readonly T[], line: (item: T) => string): string[] {
  const rest = items.length - MAX_LINES
  return [...items.slice(0, MAX_LINES).map(line), ...(rest > 0 ? [`  … and ${rest} more`] : [])]
}

async function forget(context: CliContext, asked: LedgerRequest): Promise<readonly string[]> {
  const { database, historyFrom, channels, window } = readLedgerSettings(context, asked, 0)
  await using db = await openWarehouse(context, database)
  const recorded = await runForget(context, db, {
    streams: asked.streams.filter(({ isTimeFiltered }) => isTimeFiltered).map(({ name }) => name),
    channels: asked.channels === undefined ? undefined : channels.map(({ channelId }) => channelId),
    window,
  })
  if ('error' in recorded) throw recorded.error
  const { forgotten } = recorded.outcome.result
  const lines = describeForgotten(forgotten)
  if (forgotten.length > 0 && asked.from !== undefined && window.from < historyFrom)
    lines.push(`What lies before LIVEHOUSE_HISTORY_FROM (${formatWallMinute(historyFrom)}) is not read again.`)
  const wholeLists = asked.streams.filter(({ isTimeFiltered }) => !isTimeFiltered).map(({ name }) => name)
  if (asked.namesStreams && wholeLists.length > 0)
    lines.push(`${wholeLists.join(', ')}: nothing to forget; every sync reads the whole list anyway.`)
  return lines
}

function describeForgotten(forgotten: readonly ForgottenPartition[]): string[] {
  if (forgotten.length === 0) return ['Nothing in this range was covered or read in vain; nothing is forgotten.']
  const slices = forgotten.reduce((sum, each) => sum + each.slices, 0)
  const rest = forgotten.length - MAX_PARTITIONS
  const rows = forgotten.slice(0, MAX_PARTITIONS).map((each) => [each.stream, each.partition, each.slices])
  return [
    ...formatTable(['stream', 'partition', 'slices'], rows),
    ...(rest > 0 ? [`… and ${rest} more partitions`] : []),
    `Forgotten: the coverage of ${formatCount(slices, 'slice')} in ${formatCount(forgotten.length, 'partition')}. ` +
      'The next sync reads it again.',
  ]
}

function readLedgerSettings({ environment, clock }: CliContext, asked: LedgerRequest, earliest?: WallTime) {
  const needsChannels = asked.streams.some(({ partitionedBy }) => partitionedBy !== 'account')
  const settings = readSettings(environment, (source) => ({
    database: readDatabaseSettings(source),
    timeZone: readServiceTimeZone(source),
    historyFrom: readHistoryFrom(source),
    configured: needsChannels ? readChannels(source) : readChannelsIfAny(source),
  }))
  const chosenChannels = chooseChannels(asked.channels)(settings.configured)
  const now = floorToMinute(wallTimeAt(clock.now(), settings.timeZone))
  const window = { from: asked.from ?? earliest ?? settings.historyFrom, to: asked.to ?? now }
  checkUsage((refuse) => refuseEmptyRange(window, refuse))
  return { ...settings, window, channels: chosenChannels.map(toPlannedChannel) }
}
