import { onlyWhenNamed } from '../streams/registry.ts'
import { openAsItIs } from '../app/open-database.ts'
import { readDatabaseSettings, readSettings, readV1Budget } from '../config.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import { exitCodeOfStatus } from './failure.ts'
import { readAge } from './flags.ts'
import { collectStatus, findStale } from './status/collect-status.ts'
import { describeStale, describeStatus, statusJson } from './status/report.ts'
import { defineCommand } from './usage.ts'

/** `livehouse status`: freshness, coverage, proof, the last runs and quarantine. */
export const status = defineCommand(
  {
    verb: 'status',
    about: `What the warehouse in DATABASE_URL holds and how fresh it is; asks the database alone and changes nothing. For each stream:
the rows of its table, counted up to 50,000, beyond that as the database estimates them (~); when it was last read to its end, and
its proof; until when its least covered channel is covered; how many partitions ended with each proof in their latest slice; the
last run that read it. Then the last runs, what is in quarantine, and how many calls are left today on ${onlyWhenNamed}. Channels
that are no longer configured do not count, and one that is covered up to its end (until) is not the least covered while another
goes on.`,
    flags: {
      'max-age': [
        'AGE',
        'exit code 3, and a line for each stream, when nothing of it has landed for longer: 90m, 26h, 2d. For monitoring; ' +
          `${onlyWhenNamed}, which is only read when named, does not count`,
      ],
      json:
        'prints one JSON object instead: {"time_zone", "pending_migrations": [], "streams": {NAME: {"rows", "rows_are_estimated", ' +
        '"last_run_id", "last_landed_at", "last_proof", "covered_until" (wall clock of time_zone), "least_covered_partition", ' +
        '"partitions": {PROOF: count}}}, "runs": [{"run_id", "command", "status", "started_at", "finished_at"}], "leases": ' +
        '[{"name", "holder", "since"}], "quarantine": ' +
        '{NAME: {"rows", "most_common_reason"}}, "backfills": [{"started_at", "resume_with"}] (unfinished ones), "gaps": ' +
        '[{"stream", "partition", "from", "to"}] and "shortfalls": the same with "proof" and "reason" (the newest of each; all ' +
        'are counted in "gap_count" and "shortfall_count"), "gone_channels": ' +
        '[ID], "acceptances": [ACCEPTANCE] (see accept --help), "v1_calls": {"service_day", "budget", "scope", "scopes": ' +
        '[{"scope", "used", "left", "spent_at"}]}, "half_read": [{"stream", "partition", "from", "to", "pages", "rows", ' +
        '"started_at", "read_at"}], "stale": [NAME] or null without --max-age}',
    },
    notes: 'Exit codes: 0 shown, 1 the database cannot be read, 2 wrong use, 3 something is older than --max-age.',
    examples: `livehouse status
livehouse status --max-age 26h > /dev/null || echo 'the export is late'
livehouse status --json | jq '.streams.visitors.last_landed_at'`,
  },
  ({ values }, refuse) => ({ ...values, maxAgeMs: readAge('--max-age', values['max-age'], refuse) }),
  async (context, { json: isJson, 'max-age': maxAge = '', maxAgeMs }) => {
    const { budget, channels, settings } = readSettings(context.environment, (source) => ({
      budget: readV1Budget(source),
      channels: readChannelsIfAny(source),
      settings: readDatabaseSettings(source),
    }))
    await using database = await openAsItIs(context, settings)
    const nowMs = context.clock.now()
    const found = await collectStatus(database, { budget, nowMs }, channels)
    const stale = maxAgeMs === undefined ? undefined : findStale(found, maxAgeMs, nowMs)
    if (isJson) context.print(statusJson(found, stale, nowMs))
    else {
      for (const line of describeStatus(found, nowMs)) context.print(line)
      for (const line of describeStale(stale ?? [], maxAge, nowMs)) context.print(line)
    }
    return exitCodeOfStatus(stale === undefined || stale.length === 0 ? 'ok' : 'partial')
  },
)
