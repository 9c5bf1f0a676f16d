import { readChannelsIfAny, readChannels } from '../config/read-channels.ts'
import { readDatabaseSettings, readHistoryFrom, readServiceSettings, readSettings } from '../config.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import { parseWallTime } from '../core/wall-clock.ts'
import { streams } from '../streams/registry.ts'
import { checkUsage, parseArguments, type Refuse } from './arguments.ts'
import type { Command } from './command.ts'
import { exitCodeOfStatus } from './exit.ts'
import { readChosenChannels, readStreams } from './flags.ts'
import { outcomeJson } from './outcome-json.ts'
import { plannedChannel } from './planned-channel.ts'
import { runExtraction } from './run-extraction.ts'
import { summarize } from './summary.ts'
import { openWarehouse } from './warehouse.ts'

const help = `livehouse sync [--streams a,b] [--channels x,y] [--json]

Brings every stream up to now: reads what the channel service has, and writes what is new or has changed. Running it again
changes nothing that has not changed at the source. Settings come from the environment or .env (see .env.example).

Flags:
  --streams a,b    only these streams (default: all; signups bring questionnaires along);
                   ${streams.map(({ name }) => name).join(', ')}
  --channels x,y   only these channels of LIVEHOUSE_CHANNELS (default: all but those that the service has not known in three
                   runs in a row; named here, they are tried again)
  --json           prints one JSON object with what was done instead of a table

Exit codes: 0 everything has landed, 1 nothing could be done, 2 a flag or a setting is wrong, 3 a part failed or fell short
of the source's total (the next sync goes on from there), 130 and 143 interrupted.

Examples:
  livehouse sync
  livehouse sync --streams visitors --channels 10001589
  livehouse sync --json | jq .status`

/** `livehouse sync`: every stream up to now. */
export const sync: Command = {
  help,
  run: async (context, argv) => {
    const { values } = parseArguments('sync', argv, {
      streams: { type: 'string' },
      channels: { type: 'string' },
      json: { type: 'boolean' },
    })
    const chosen = checkUsage('sync', (refuse) => chooseStreams(values.streams, refuse))
    const needsChannels = chosen.some(({ partitionedBy }) => partitionedBy !== 'account')
    const settings = readSettings(context.environment, (source) => ({
      service: readServiceSettings(source),
      database: readDatabaseSettings(source),
      channels: needsChannels ? readChannels(source) : readChannelsIfAny(source),
      historyFrom: readHistoryFrom(source),
    }))
    const { service, channels } = settings
    const read = checkUsage('sync', (refuse) => readChosenChannels(values.channels, channels, refuse))
    await using db = await openWarehouse(context, { settings: settings.database, source: service })
    const outcome = await runExtraction(context, {
      command: 'sync',
      settings: { streams: chosen.map(({ name }) => name), channels: read.map(({ channelId }) => channelId) },
      service,
      db,
      channels,
      namesChannels: values.channels !== undefined,
      plan: (now) => ({
        streams: chosen,
        channels: read.map(plannedChannel),
        historyFrom: parseWallTime(settings.historyFrom) ?? 0,
        now,
      }),
    })
    if (values.json) context.print(outcomeJson(outcome))
    else for (const line of summarize(outcome)) context.print(line)
    return exitCodeOfStatus(outcome.status)
  },
}

function chooseStreams(given: string | undefined, refuse: Refuse): readonly Stream[] {
  const names: readonly StreamName[] | undefined = readStreams(given, refuse)
  if (names === undefined) return streams
  // Signups are asked for questionnaire by questionnaire, so their list is read too.
  const wanted = new Set(names.includes('signups') ? [...names, 'questionnaires'] : names)
  return streams.filter(({ name }) => wanted.has(name))
}
