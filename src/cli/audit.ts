import { askWallTime } from '../app/open-connection.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { auditObject, runAudit } from '../app/run-audit.ts'
import { wrongUse } from '../core/errors.ts'
import { formatWallMinute, formatWallTime, parseWallTime } from '../core/wall-clock.ts'
import { onlyWhenNamed, streams, withQuestionStreams } from '../streams/registry.ts'
import { describeAudit } from './describe-audit.ts'
import { exitCodes } from './exit-codes.ts'
import { readExtractionSettings } from './extraction-settings.ts'
import { CHANNELS_HELP, chooseChannels, namesOf, readRange, readStreams, refuseFarAhead } from './flags.ts'
import { printResult } from './format.ts'
import { checkUsage, defineCommand } from './usage.ts'

export const audit = defineCommand(
  {
    about: `Asks the service how many rows it has, and compares that with the warehouse: for all covered ranges, and
for past ranges that you name or that were never read. A stream that was never read is compared only if you name it.
A range that differs is halved until the difference is found; that part then no longer counts as covered, and the next
sync reads it again. Rows that are new at the source since the last reading do not count as a difference.
${onlyWhenNamed} is not audited: it has no total and allows ten calls a day.`,
    flags: {
      from: ['DATE', "a day of the service's calendar, or a time in whole minutes (default: from the beginning)"],
      to: ['DATE', 'the same, exclusive (default: up to what is covered)'],
      streams: ['a,b', `only these streams, with the lists that they need (default: all); ${namesOf(streams)}`],
      channels: ['x,y', CHANNELS_HELP],
      'no-reopen': 'leaves the ledger as it is',
      json: 'prints one JSON object instead: that of a sync, with "audit": {"partitions", "not_audited", "gone"}',
    },
    notes: 'Exit codes: 0 no difference, 1 nothing compared, 2 wrong use, 3 something differs or was not compared.',
    examples: `livehouse audit
livehouse audit --streams watch_records --channels 10001589 --from 2026-03-01 --to 2026-04-01
livehouse audit --streams gifts --from 2026-03-01 --to 2026-03-08
livehouse audit --no-reopen
livehouse audit --json | jq '.audit.partitions[] | select(.verdict == "different")'`,
  },
  ({ values }, refuse) => {
    const namedStreams = readStreams(values.streams, refuse) ?? streams
    if (namedStreams.length > 0 && namedStreams.every(({ isBudgeted }) => isBudgeted))
      refuse(`${onlyWhenNamed} cannot be audited: it tells no total, and allows ten calls a day`)
    return { values, chosenStreams: withQuestionStreams(namedStreams), range: readRange(values, refuse) }
  },
  async (context, { values, chosenStreams, range }) => {
    const audited = chosenStreams.filter(({ isBudgeted }) => !isBudgeted)
    const settings = readExtractionSettings(context, audited, chooseChannels(values.channels))
    const { timeZone } = settings.service
    // `--to` may lie in the future: an audit never goes beyond now.
    checkUsage((refuse) => refuseFarAhead({ ...range, to: undefined }, context.clock.now(), timeZone, refuse))
    if (range.from !== undefined) {
      const { now, earlier } = await askWallTime(context, settings.service)
      const ownTime = earlier < now ? `, and this machine's ${formatWallTime(earlier)}` : ''
      const clocks = `nothing has been read of it: the service's clock shows ${formatWallTime(now)}${ownTime}`
      if (range.from >= earlier)
        throw wrongUse(`--from ${formatWallMinute(range.from)} lies in the future, so ${clocks}`)
    }
    const { from = parseWallTime('1000-01-01') ?? 0, to = parseWallTime('9999-12-31') ?? 0 } = range
    await using db = await openWarehouse(context, settings.database, settings.service)
    const outcome = await runAudit(context, {
      command: 'audit',
      settings,
      db,
      streams: chosenStreams,
      namesStreams: values.streams !== undefined,
      namesChannels: values.channels !== undefined,
      window: values.from === undefined && values.to === undefined ? undefined : { from, to },
      reopens: !values['no-reopen'],
    })
    printResult(context, values.json, auditObject(outcome), describeAudit(outcome))
    return exitCodes[outcome.status]
  },
)
