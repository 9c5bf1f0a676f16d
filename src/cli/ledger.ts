import { plannedChannel } from '../app/settings.ts'
import { openAsItIs } from '../app/open-database.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { readDatabaseSettings, readHistoryFrom, readServiceTimeZone, readSettings } from '../config.ts'
import { readChannels, readChannelsIfAny } from '../config/read-channels.ts'
import type { Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { floorToMinute, formatWallMinute, parseWallTime, type WallTime, wallTimeAt } from '../core/wall-clock.ts'
import { forgetCoverage, type ForgottenPartition } from '../ledger/coverage.ts'
import { allStreams, onlyWhenNamed, streams } from '../streams/registry.ts'
import type { CliContext } from './command.ts'
import { OF_CHANNELS, readChosenChannels, readStreams, readWallTimeFlag } from './flags.ts'
import { counted, formatTable, printResult } from './format.ts'
import { collectLedger, describeLedger, ledgerObject } from './ledger/report.ts'
import { defineCommand } from './usage.ts'
import { checkUsage, type Refuse } from './wrong-use.ts'

interface Asked {
  readonly action: 'show' | 'forget'
  readonly streams: readonly Stream[]
  /** Whether `--streams` was given. */
  readonly namesStreams: boolean
  readonly channels: string | undefined
  readonly from: WallTime | undefined
  readonly to: WallTime | undefined
  readonly isJson: boolean
}

/** `livehouse ledger`: what is covered, and taking a range out of it. */
export const ledger = defineCommand(
  {
    verb: 'ledger',
    about: 'What has been read and what has not, from the ledger of slices; asks the database alone.',
    actions: {
      show:
        'for each stream and partition: covered ranges, gaps, the last slice that landed and its proof, and what fell short or ' +
        'failed and has not been made good since. Many partitions are summed up; --channels shows those of some channels (the default)',
      forget:
        'takes a range (--from and --to, or --all) out of what is covered: the next sync reads it again. Nothing is deleted from ' +
        'the tables',
    },
    defaultAction: 'show',
    flags: {
      streams: ['a,b', `only these streams (default: all but ${onlyWhenNamed})`],
      channels: ['x,y', OF_CHANNELS],
      from: [
        'DATE',
        "a day of the service's calendar, or a time in whole minutes (2026-01-31T06:00); show begins at LIVEHOUSE_HISTORY_FROM " +
          'without it',
      ],
      to: ['DATE', 'the same, exclusive; show ends now without it'],
      all: ['', 'everything, whatever its time', 'forget'],
      json: 'prints one JSON object instead',
    },
    examples: `livehouse ledger
livehouse ledger show --streams watch_records --channels 10001589
livehouse ledger forget --from 2026-03-01 --to 2026-03-08 --streams gifts`,
  },
  ({ action, values }, refuse): Asked => {
    const names = readStreams(values.streams, refuse)
    if (values.all && (values.from ?? values.to) !== undefined) refuse('--all is given beside --from or --to')
    const needsRange = action === 'forget' && !values.all
    const time = (flag: string, given: string | undefined) =>
      given === undefined && !needsRange ? undefined : readWallTimeFlag(flag, given, refuse)
    const { from, to } = { from: time('--from', values.from), to: time('--to', values.to) }
    refuseBackwards(from, to, refuse)
    return {
      action,
      streams: names === undefined ? streams : allStreams.filter(({ name }) => names.includes(name)),
      namesStreams: names !== undefined,
      channels: values.channels,
      from,
      to,
      isJson: values.json,
    }
  },
  async (context, asked) => (asked.action === 'show' ? await show(context, asked) : await forget(context, asked)),
)

async function show(context: CliContext, asked: Asked): Promise<number> {
  const { database, timeZone, historyFrom, channels } = readLedgerSettings(context, asked)
  const now = floorToMinute(wallTimeAt(context.clock.now(), timeZone))
  const window = { from: asked.from ?? historyFrom, to: asked.to ?? now }
  checkUsage('ledger', (refuse) => refuseBackwards(window.from, window.to, refuse))
  await using opened = await openAsItIs(context, database)
  const namesChannels = asked.channels !== undefined
  const ledgers = await collectLedger(opened.isMigrated ? opened.db : undefined, {
    streams: asked.streams,
    channels,
    namesChannels,
    window,
  })
  const shown = { ledgers, window, timeZone, isDetailed: namesChannels }
  printResult(context, asked.isJson, ledgerObject(shown), describeLedger(shown))
  return 0
}

/** Every time that the ledger can hold. */
const ALWAYS: Window = { from: parseWallTime('1000-01-01') ?? 0, to: parseWallTime('9999-12-31') ?? 0 }

async function forget(context: CliContext, asked: Asked): Promise<number> {
  const { database, historyFrom, channels } = readLedgerSettings(context, asked)
  const window = { from: asked.from ?? ALWAYS.from, to: asked.to ?? ALWAYS.to }
  await using db = await openWarehouse(context, { settings: database, source: undefined })
  const forgotten = await forgetCoverage(db, {
    streams: asked.streams.filter(({ isTimeFiltered }) => isTimeFiltered).map(({ name }) => name),
    channels: asked.channels === undefined ? undefined : channels.map(({ channelId }) => channelId),
    window,
  })
  const walks = asked.streams.filter(({ isTimeFiltered }) => !isTimeFiltered)
  const names = walks.map(({ name }) => name)
  const lines = describeForgotten(forgotten)
  if (forgotten.length > 0 && window.from < historyFrom && asked.from !== undefined)
    lines.push(`What lies before LIVEHOUSE_HISTORY_FROM (${formatWallMinute(historyFrom)}) is not read again.`)
  if (asked.namesStreams && walks.length > 0)
    lines.push(`${names.join(', ')}: nothing to forget, every sync reads the whole list anyway.`)
  printResult(context, asked.isJson, { forgotten, read_anyway: names }, lines)
  return 0
}

/** More partitions than this are only counted. */
const MOST_PARTITIONS = 20

function describeForgotten(forgotten: readonly ForgottenPartition[]): string[] {
  if (forgotten.length === 0) return ['Nothing of this was covered; nothing is forgotten.']
  const slices = forgotten.reduce((sum, each) => sum + each.slices, 0)
  const rest = forgotten.length - MOST_PARTITIONS
  const rows = forgotten.slice(0, MOST_PARTITIONS).map((each) => [each.stream, each.partition, each.slices])
  return [
    ...formatTable(['stream', 'partition', 'slices'], rows),
    ...(rest > 0 ? [`… and ${rest} more partitions`] : []),
    `Forgotten: what ${counted(slices, 'slice')} of ${counted(forgotten.length, 'partition')} covered of it. The next sync reads it again.`,
  ]
}

function readLedgerSettings({ environment }: CliContext, asked: Asked) {
  const needsChannels = asked.streams.some(({ partitionedBy }) => partitionedBy !== 'account')
  const settings = readSettings(environment, (source) => ({
    database: readDatabaseSettings(source),
    timeZone: readServiceTimeZone(source),
    historyFrom: readHistoryFrom(source),
    configured: needsChannels ? readChannels(source) : readChannelsIfAny(source),
  }))
  const chosen = checkUsage('ledger', (refuse) => readChosenChannels(asked.channels, settings.configured, refuse))
  return { ...settings, historyFrom: parseWallTime(settings.historyFrom) ?? 0, channels: chosen.map(plannedChannel) }
}

function refuseBackwards(from: WallTime | undefined, to: WallTime | undefined, refuse: Refuse): void {
  if (from === undefined || to === undefined || from < to) return
  refuse(`--from ${formatWallMinute(from)} is not before --to ${formatWallMinute(to)}; --to is exclusive`)
}
