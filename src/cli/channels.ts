import { openAsItIs } from '../app/open-database.ts'
import { listChannels, type ShownChannel } from '../app/read-records.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import { readDatabaseSettings, readSettings } from '../config.ts'
import { LIST_JSON_HELP } from './flags.ts'
import { formatAge, formatTable, printResult, toSnakeCase } from './format.ts'
import { defineCommand } from './usage.ts'

export const channels = defineCommand(
  {
    about: `Lists the channels of LIVEHOUSE_CHANNELS and of the warehouse. Needs only the database. States: active; new
(nothing has run since it was configured); retired (no longer configured); gone (the service did not know it on three
days; it is checked once a day).`,
    flags: { json: LIST_JSON_HELP },
    examples: `livehouse channels
livehouse channels --json | jq -r '.channels[] | select(.state == "new") | .channel_id'`,
  },
  ({ values }) => values,
  async (context, { json: isJson }) => {
    const settings = readSettings(context.environment, (source) => ({
      database: readDatabaseSettings(source),
      channels: readChannelsIfAny(source),
    }))
    await using database = await openAsItIs(context, settings.database)
    const shown = await listChannels(database.db, settings.channels)
    printResult(context, isJson, { channels: shown.map(toSnakeCase) }, describe(shown, context.clock.now()))
    return 0
  },
)

function describe(shown: readonly ShownChannel[], nowMs: number): string[] {
  if (shown.length === 0) return ['no channel is configured, and the warehouse has none; set LIVEHOUSE_CHANNELS']
  const hasLabels = shown.some(({ label, group }) => label !== null || group !== null)
  const header = ['channel', 'name', ...(hasLabels ? ['label', 'group'] : []), 'state']
  const rows = shown.map(({ channelId, name, label, group, isTest, state, visitors, watchRecords, lastLandedAt }) => [
    channelId,
    name,
    ...(hasLabels ? [label, group] : []),
    isTest ? `${state}, test` : state,
    visitors.toLocaleString('en-US'),
    watchRecords.toLocaleString('en-US'),
    lastLandedAt === null ? 'never' : `${formatAge(nowMs - lastLandedAt.getTime())} ago`,
  ])
  return formatTable([...header, 'visitors', 'watch records', 'last landed'], rows)
}
