import { readExtractionSettings } from './extraction-settings.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { auditObject, executeAudit } from '../app/run-audit.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import { parseWallTime } from '../core/wall-clock.ts'
import { onlyWhenNamed, streams, withLists } from '../streams/registry.ts'
import { describeAudit } from './audit/report.ts'
import { exitCodeOfStatus } from './failure.ts'
import { channelsOf, namesOf, OF_CHANNELS, readRange, readStreams } from './flags.ts'
import { printResult } from './format.ts'
import { defineCommand } from './usage.ts'
import type { Refuse } from './wrong-use.ts'

/** `livehouse audit`: the service's totals against the warehouse. */
export const audit = defineCommand(
  {
    verb: 'audit',
    about: `Asks the service how many rows it has, as far as they are covered here, and holds that against the
warehouse. A range that differs is halved until it can be read and named, is no longer covered, and is read again by
the next sync. What is new at the source since it was last read is no difference. ${onlyWhenNamed} is not audited: it
has no total and allows ten calls a day.`,
    flags: {
      from: ['DATE', "a day of the service's calendar, or a time in whole minutes (default: from the beginning)"],
      to: ['DATE', 'the same, exclusive (default: up to what is covered)'],
      streams: ['a,b', `only these streams (default: all; signups bring questionnaires along); ${namesOf(streams)}`],
      channels: ['x,y', OF_CHANNELS],
      'no-reopen': 'leaves the ledger as it is',
      json: 'prints one JSON object instead: that of a sync, with "audit": {"partitions", "not_audited", "gone"}',
    },
    notes:
      'Exit codes: 0 no difference, 1 nothing could be compared, 2 wrong use, 3 something differs or could not be compared.',
    examples: `livehouse audit
livehouse audit --streams watch_records --channels 10001589 --from 2026-03-01 --to 2026-04-01
livehouse audit --streams gifts --from 2026-03-01 --to 2026-03-08
livehouse audit --no-reopen
livehouse audit --json | jq '.audit.partitions[] | select(.verdict == "different")'`,
  },
  ({ values }, refuse) => {
    return {
      values,
      ...chooseStreams(values.streams, refuse),
      range: readRange(values, refuse),
    }
  },
  async (context, { values, chosen, unaudited, range }) => {
    const settings = readExtractionSettings(context, chosen, channelsOf('audit', values.channels))
    const { from = parseWallTime('1000-01-01') ?? 0, to = parseWallTime('9999-12-31') ?? 0 } = range
    await using db = await openWarehouse(context, { settings: settings.database, source: settings.service })
    const outcome = await executeAudit(context, {
      settings,
      db,
      streams: chosen,
      unaudited,
      namesChannels: values.channels !== undefined,
      window: values.from === undefined && values.to === undefined ? undefined : { from, to },
      reopens: !values['no-reopen'],
    })
    printResult(context, values.json, auditObject(outcome), describeAudit(outcome))
    return exitCodeOfStatus(outcome.status)
  },
)

function chooseStreams(
  given: string | undefined,
  refuse: Refuse,
): { readonly chosen: readonly Stream[]; readonly unaudited: readonly StreamName[] } {
  const names = readStreams(given, refuse)
  if (names === undefined) return { chosen: streams, unaudited: [] }
  if (names.length > 0 && names.every((name) => streams.every((stream) => stream.name !== name)))
    refuse(`${names.join(', ')} cannot be audited: it tells no total, and allows ten calls a day`)
  // Which questionnaires there are decides which signups are asked for.
  return {
    chosen: withLists(streams.filter(({ name }) => names.includes(name))),
    // Ten calls a day: never worth a comparison.
    unaudited: names.filter((name) => streams.every((stream) => stream.name !== name)),
  }
}
