import { readExtractionSettings } from './extraction-settings.ts'
import { openWarehouse } from '../app/open-warehouse.ts'
import { auditObject, executeAudit } from '../app/run-audit.ts'
import type { Window } from '../core/slice.ts'
import type { Stream, StreamName } from '../core/stream.ts'
import { DAY, formatWallMinute, parseWallTime } from '../core/wall-clock.ts'
import { onlyWhenNamed, streams, withLists } from '../streams/registry.ts'
import { describeAudit } from './audit/report.ts'
import { exitCodeOfStatus } from './failure.ts'
import { channelsOf, namesOf, OF_CHANNELS, readStreams, readWallTimeFlag } from './flags.ts'
import { printResult } from './format.ts'
import { defineCommand } from './usage.ts'
import type { Refuse } from './wrong-use.ts'

/** `livehouse audit`: the service's totals against the warehouse. */
export const audit = defineCommand(
  {
    verb: 'audit',
    about: `Asks the service how many rows it has and holds that against the tables, with the smallest calls there are. Where a count differs,
the range is halved until the difference is small enough to be read and named: which rows are missing, which are too many. Such a
range is no longer covered, and the next sync reads it again. Nothing else is written.

Lists with times (watch_records, signups) are compared as far as they are covered; visitors, questionnaires, managers and the
usage of today as a whole. Rows in quarantine count, rows that are marked as removed do not. What is new at the source since it was
last read is said and is no difference. A watch record that is no longer at the source is kept and said; it is a difference only
where it is of the last three days, or where so many are too many that they are not read. Where viewers stay on at the
end of what is counted, and what has come since the last minute without one is too much to be read, a partition is not
proven. Gifts have no total: what is covered of them is read again. What an audit has reopened is a difference until
it has been read again. ${onlyWhenNamed} is not audited: it has no total and allows ten calls a day. Named with others
it is passed over, named alone it is refused.`,
    flags: {
      from: [
        'DATE',
        "a day of the service's calendar, or a time in whole minutes (2026-01-31T06:00); without it from the beginning",
      ],
      to: ['DATE', 'the same, exclusive; without it up to what is covered'],
      streams: ['a,b', `only these streams (default: all; signups bring questionnaires along); ${namesOf(streams)}`],
      channels: ['x,y', OF_CHANNELS],
      'no-reopen': 'leaves the ledger as it is',
      json:
        'prints one JSON object instead: that of a sync, with "audit": {"partitions": [{"stream", "partition", "verdict", "from", ' +
        '"to", "source_rows", "warehouse_rows", "quarantined_rows", "differences", "reopened", "notes"}], "not_audited", ' +
        '"gone": [CHANNEL]}',
    },
    notes: `Exit codes: 0 no difference, 1 nothing could be compared, 2 wrong use, 3 something differs or could not be compared, 130 and 143
interrupted.`,
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
      window: readWindow(values.from, values.to, refuse),
    }
  },
  async (context, { values, chosen, unaudited, window }) => {
    const settings = readExtractionSettings(context, chosen, channelsOf('audit', values.channels))
    await using db = await openWarehouse(context, { settings: settings.database, source: settings.service })
    const outcome = await executeAudit(context, {
      settings,
      db,
      streams: chosen,
      unaudited,
      namesChannels: values.channels !== undefined,
      window,
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

/** Undefined where neither is given. */
function readWindow(from: string | undefined, to: string | undefined, refuse: Refuse): Window | undefined {
  if (from === undefined && to === undefined) return undefined
  const always = { from: parseWallTime('1000-01-01') ?? 0, to: parseWallTime('9999-12-31') ?? DAY }
  const window = {
    from: from === undefined ? always.from : (readWallTimeFlag('--from', from, refuse) ?? always.from),
    to: to === undefined ? always.to : (readWallTimeFlag('--to', to, refuse) ?? always.to),
  }
  if (window.from >= window.to)
    refuse(
      `--from ${formatWallMinute(window.from)} is not before --to ${formatWallMinute(window.to)}; --to is exclusive`,
    )
  return window
}
