import { askWallTime } from '../app/open-connection.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { backfillPlanner, runBackfill } from '../app/run-backfill.ts'
import type { Window } from '../core/slice.ts'
import type { Stream } from '../core/stream.ts'
import { DAY, formatWallMinute, formatWallTime, type WallTime } from '../core/wall-clock.ts'
import { fanOut, openQueueIf } from '../scheduler/fan-out.ts'
import { onlyWhenNamed, streams, withQuestionStreams } from '../streams/registry.ts'
import { readExtractionSettings } from './extraction-settings.ts'
import { CHANNELS_HELP, chooseChannels, namesOf, readRange, readStreams, refuseFarAhead, runFlags } from './flags.ts'
import { formatMinuteIn } from './format.ts'
import { printOutcome } from './summary.ts'
import { checkUsage, defineCommand, type Refuse } from './usage.ts'

const filtered = streams.filter(({ isTimeFiltered }) => isTimeFiltered)

export const backfill = defineCommand(
  {
    about: `Reads a date range again, whether it is covered or not. If interrupted, the same command resumes it
without repeating what has landed; once it has finished, the same command reads the range again. It does not disturb a
sync that runs at the same time.`,
    flags: {
      from: ['DATE', "the first day of the service's calendar, or a time in whole minutes (2026-01-31T06:00)"],
      to: ['DATE', 'the day after the last one, or a time: exclusive (default: until now)'],
      streams: [
        'a,b',
        `only these (default: ${namesOf(filtered)}); ${onlyWhenNamed} only where it is named: ten calls a day`,
      ],
      channels: ['x,y', CHANNELS_HELP],
      'only-gaps': 'reads only what is not covered',
      'newest-first': 'the newest days first (default: the oldest)',
      restart: 'starts over instead of resuming an unfinished backfill with the same arguments',
      ...runFlags,
    },
    examples: `livehouse backfill --from 2026-01-01
livehouse backfill --from 2026-03-01 --to 2026-04-01 --streams gifts --channels 10001589
livehouse backfill --from 2020-01-01 --to 2026-01-01 --only-gaps --newest-first
livehouse backfill --from 2017-01-01 --to 2018-12-01 --streams ${onlyWhenNamed}`,
  },
  ({ values }, refuse) => ({
    values,
    chosenStreams: chooseStreams(values.streams, refuse),
    given: readRange(values, refuse, ['--from']),
  }),
  async (context, { values, chosenStreams, given }) => {
    const settings = readExtractionSettings(context, chosenStreams, chooseChannels(values.channels))
    const { service } = settings
    checkUsage((refuse) => refuseFarAhead(given, context.clock.now(), service.timeZone, refuse))
    const { now } = await askWallTime(context, service)
    const window = checkUsage((refuse) => closeRange(given, now, refuse))

    const args = {
      from: formatWallTime(window.from),
      // Not the current time, so that the same command resumes this backfill on another day.
      to: given.to === undefined ? 'now' : formatWallTime(window.to),
      streams: chosenStreams.map(({ name }) => name),
      channels: settings.channels.map(({ channelId }) => channelId),
      onlyGaps: values['only-gaps'],
    }
    const { restart, json: isJson } = values
    const range = { window, args, restart }
    const namesChannels = values.channels !== undefined
    const common = { command: 'backfill', settings, streams: withQuestionStreams(chosenStreams), namesChannels }
    if (values['dry-run']) {
      const { dryRun } = await import('./dry-run.ts')
      return await dryRun(context, {
        ...common,
        planStreams: (opened, now, backfillId) =>
          backfillPlanner(opened, settings, { window, backfillId, onlyGaps: args.onlyGaps }, now),
        backfill: range,
        isJson,
      })
    }
    await using db = await openWarehouse(context, settings.database, service)
    await using queue = await openQueueIf(values.queue, context, settings.database)
    const outcome = await runBackfill(context, {
      ...common,
      ...range,
      parameters: args,
      db,
      isResumable: true,
      onResumed: (at) => context.remark(`resumes the backfill of ${formatMinuteIn(service.timeZone)(at)}`),
      clock: context.clock,
      order: values['newest-first'] ? 'newest-first' : 'oldest-first',
      runPhases: queue && fanOut(queue),
    })
    return printOutcome(context, outcome, isJson, service.timeZone)
  },
)

function chooseStreams(given: string | undefined, refuse: Refuse): readonly Stream[] {
  const namedStreams = readStreams(given, refuse) ?? filtered
  for (const { name, section } of namedStreams.filter(({ isTimeFiltered }) => !isTimeFiltered))
    refuse(`--streams: ${name} has no time filter (API ${section}), so no past to read: every sync reads all of it`)
  return namedStreams
}

/** Without an end, the range ends with today, which is also the last day that may be named. */
function closeRange({ from = 0, to }: ReturnType<typeof readRange>, now: WallTime, refuse: Refuse): Window {
  const tomorrow = (Math.floor(now / DAY) + 1) * DAY
  if (from >= now)
    refuse(`--from ${formatWallMinute(from)} lies in the future: the service's clock shows ${formatWallTime(now)}`)
  else if (to !== undefined && to > tomorrow)
    refuse(`--to ${formatWallMinute(to)} lies in the future: it can be ${formatWallMinute(tomorrow)} at most`)
  return { from, to: to ?? tomorrow }
}
