import { openWarehouse } from '../app/open-warehouse.ts'
import { syncPlanner } from '../app/run-backfill.ts'
import { runExtraction } from '../app/run-extraction.ts'
import { fanOut, openQueueIf } from '../scheduler/fan-out.ts'
import { allStreams, onlyWhenNamed, streams, withQuestionStreams } from '../streams/registry.ts'
import { readExtractionSettings } from './extraction-settings.ts'
import { CHANNELS_HELP, chooseChannels, namesOf, readStreams, runFlags } from './flags.ts'
import { printOutcome } from './summary.ts'
import { defineCommand } from './usage.ts'

export const sync = defineCommand(
  {
    about: `Reads what is not covered yet, and again the last days, where rows still change. Writes only rows that are
new or have changed. Settings come from the environment or .env (see .env.example).`,
    flags: {
      streams: [
        'a,b',
        `only these streams, with the lists that they need (default: all but ${onlyWhenNamed}); ${namesOf(allStreams)}`,
      ],
      channels: ['x,y', CHANNELS_HELP],
      until: ['HH:MM', "begins nothing new after this time of the service's clock (exit 4)"],
      ...runFlags,
    },
    notes: `Exit codes: 0 everything has landed, 1 nothing could be done, 2 wrong use, 3 a part failed or fell short
(the next sync goes on from there), 4 work is left that waits (--until, or the ten calls of ${onlyWhenNamed}), 130 and
143 interrupted.`,
    examples: `livehouse sync
livehouse sync --streams visitors --channels 10001589
livehouse sync --until 06:00
livehouse sync --dry-run
livehouse sync --json | jq .status`,
  },
  ({ values }, refuse) => {
    const { until } = values
    if (until !== undefined && values['dry-run']) refuse('--until ends a run; --dry-run begins none')
    if (until !== undefined && !/^([01]\d|2[0-3]):[0-5]\d$/.test(until))
      refuse(`--until is ${JSON.stringify(until)}; it should be a time of day, written 06:00`)
    return { values, chosenStreams: withQuestionStreams(readStreams(values.streams, refuse) ?? streams) }
  },
  async (context, { values, chosenStreams }) => {
    const { until, json: isJson } = values
    const settings = readExtractionSettings(context, chosenStreams, chooseChannels(values.channels))
    const common = { command: 'sync', settings, streams: chosenStreams, namesChannels: values.channels !== undefined }
    if (values['dry-run']) {
      const { dryRun } = await import('./dry-run.ts')
      return await dryRun(context, { ...common, planStreams: (db, now) => syncPlanner(db, settings, now), isJson })
    }
    await using db = await openWarehouse(context, settings.database, settings.service)
    await using queue = await openQueueIf(values.queue, context, settings.database)
    const outcome = await runExtraction(context, {
      ...common,
      parameters: {
        streams: chosenStreams.map(({ name }) => name),
        channels: settings.channels.map(({ channelId }) => channelId),
        until: until ?? null,
      },
      db,
      planStreams: (now) => syncPlanner(db, settings, now),
      until,
      runPhases: queue && fanOut(queue),
    })
    return printOutcome(context, outcome, isJson, settings.service.timeZone)
  },
)
