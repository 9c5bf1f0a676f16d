import { judgeStreams } from '../app/judge-health.ts'
import { openUpToDate } from '../app/open-database.ts'
import { findStale, readHealth } from '../app/read-health.ts'
import { rangeOfChannels } from '../app/settings.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import { readDatabaseSettings, readSettings, readV1Budget } from '../config.ts'
import { describeStale, describeStatus, statusObject } from './describe-status.ts'
import { exitCodes } from './exit-codes.ts'
import { printResult } from './format.ts'
import { defineCommand, type Refuse } from './usage.ts'

const jsonKeys = Object.keys(statusObject(undefined, undefined, 0))

export const status = defineCommand(
  {
    about: `Shows what the warehouse in DATABASE_URL holds and how fresh it is. Only reads the database.
Tables of more than 50,000 rows are estimated (~). Channels that are no longer configured do not count.`,
    flags: {
      'max-age': ['AGE', 'exit code 3 if a channel has landed nothing of a stream for longer, such as 90m, 26h, 2d'],
      json: `prints one JSON object instead: ${jsonKeys.map((key) => `"${key}"`).join(', ')}`,
    },
    notes: 'Exit codes: 0 shown, 1 the database cannot be read, 2 wrong use, 3 something is older than --max-age.',
    examples: `livehouse status
livehouse status --max-age 26h > /dev/null || echo 'the export is late'
livehouse status --json | jq '.streams.visitors.last_landed_at'`,
  },
  ({ values }, refuse) => ({ ...values, maxAgeMs: readAge(values['max-age'], refuse) }),
  async (context, { json: isJson, 'max-age': maxAge = '', maxAgeMs }) => {
    const { budget, channels, settings } = readSettings(context.environment, (source) => ({
      budget: readV1Budget(source),
      channels: readChannelsIfAny(source),
      settings: readDatabaseSettings(source),
    }))
    await using opened = await openUpToDate(context, settings)
    const nowMs = context.clock.now()
    const request = { nowMs, budget, rangeOf: rangeOfChannels(channels) }
    const health = opened.db && (await readHealth(opened.db, request))
    const stale = maxAgeMs === undefined ? undefined : findStale(health?.streams ?? judgeStreams(), maxAgeMs, nowMs)
    const lines = [...describeStatus(health, nowMs), ...describeStale(stale ?? [], maxAge, nowMs)]
    printResult(context, isJson, statusObject(health, stale, nowMs), lines)
    return exitCodes[stale === undefined || stale.length === 0 ? 'ok' : 'partial']
  },
)

const unitsMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** An age such as `90m`, `26h` or `2d`, in milliseconds. */
function readAge(given: string | undefined, refuse: Refuse): number | undefined {
  if (given === undefined) return undefined
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(given) ?? []
  const ms = Number(count) * (unitsMs[unit] ?? Number.NaN)
  if (ms > 0) return ms
  refuse(`--max-age is ${JSON.stringify(given)}; it should be a number and s, m, h or d, such as 90m, 26h or 2d`)
  return undefined
}
