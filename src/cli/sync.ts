import { openQueueIf } from './open-queue-if.ts'
import { readExtractionSettings } from './extraction-settings.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { syncPlan } from '../app/run-backfill.ts'
import { runExtraction } from '../app/run-extraction.ts'
import type { Stream } from '../core/stream.ts'
import { allStreams, onlyWhenNamed, streams, withLists } from '../streams/registry.ts'
import {
  BY_QUEUE,
  channelsOf,
  DRY_RUN,
  JSON_OF_RUN,
  namesOf,
  OF_CHANNELS,
  readStreams,
  readTimeOfDay,
} from './flags.ts'
import { defineCommand } from './usage.ts'
import type { Refuse } from './wrong-use.ts'
import { printOutcome } from './summary.ts'

/** `livehouse sync`: every stream up to now. */
export const sync = defineCommand(
  {
    verb: 'sync',
    about: `Reads what the ledger does not cover yet and the last days before that, where rows still change, and writes
what is new or has changed. Settings come from the environment or .env (see .env.example).`,
    flags: {
      streams: [
        'a,b',
        `only these streams (default: all but ${onlyWhenNamed}; signups bring questionnaires along); ${namesOf(allStreams)}`,
      ],
      channels: ['x,y', OF_CHANNELS],
      until: ['HH:MM', "begins nothing new from that time of the service's clock on (exit 4)"],
      queue: BY_QUEUE,
      'dry-run': DRY_RUN,
      json: JSON_OF_RUN,
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
    if (values['dry-run'] && values.until !== undefined) refuse('--until ends a run; --dry-run begins none')
    return {
      ...values,
      isDryRun: values['dry-run'],
      chosen: chooseStreams(values.streams, refuse),
      until: readTimeOfDay('--until', values.until, refuse),
    }
  },
  async (context, asked) => {
    const { chosen, until, isDryRun, json: isJson } = asked
    const settings = readExtractionSettings(context, chosen, channelsOf('sync', asked.channels))
    const namesChannels = asked.channels !== undefined
    if (isDryRun) {
      const { dryRun } = await import('./dry-run.ts')
      return await dryRun(context, {
        command: 'sync',
        settings,
        streams: chosen,
        namesChannels,
        planStreams: async (db, now) => syncPlan(db, settings, now),
        isJson,
      })
    }
    await using db = await openWarehouse(context, { settings: settings.database, source: settings.service })
    await using queued = await openQueueIf(asked.queue, context, settings.database)
    const outcome = await runExtraction(context, {
      command: 'sync',
      asked: {
        streams: chosen.map(({ name }) => name),
        channels: settings.channels.map(({ channelId }) => channelId),
        until: until ?? null,
      },
      settings,
      db,
      namesChannels,
      streams: chosen,
      planStreams: (now) => syncPlan(db, settings, now),
      until,
      runPhases: queued.runPhases,
    })
    return printOutcome(context, outcome, isJson, settings.service.timeZone)
  },
)

function chooseStreams(given: string | undefined, refuse: Refuse): readonly Stream[] {
  const names = readStreams(given, refuse)
  if (names === undefined) return streams
  // Signups are asked for questionnaire by questionnaire, so their list is read too.
  return withLists(allStreams.filter(({ name }) => names.includes(name)))
}
