import type { ChannelSetting } from '../app/settings.ts'
import { openAsItIs } from '../app/open-database.ts'
import { readDatabaseSettings, readSettings } from '../config.ts'
import { readChannelsIfAny } from '../config/read-channels.ts'
import { type ChannelState, readChannelStates } from '../ledger/channels.ts'
import { JSON_OF_LIST } from './flags.ts'
import { formatAge, formatTable, printResult, snakeCased } from './format.ts'
import { defineCommand } from './usage.ts'

/** A configured channel, or one that was. */
interface ShownChannel extends Omit<ChannelState, 'state'> {
  readonly state: ChannelState['state'] | 'new'
}

export const channels = defineCommand(
  {
    about: `The channels of LIVEHOUSE_CHANNELS and of the warehouse. Needs only the database. States: active; new
(nothing has run since it was configured); retired (no longer configured); gone (the service has not known it on three
days: it is asked for once a day).`,
    flags: { json: JSON_OF_LIST },
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
    const known = database.isMigrated ? await readChannelStates(database.db) : new Map<string, ChannelState>()
    const shown = mergeChannels(settings.channels, known)
    printResult(context, isJson, { channels: shown.map(snakeCased) }, describe(shown, context.clock.now()))
    return 0
  },
)

/** The configured channels in their order, then the others. The configuration counts as it is, even before a run. */
function mergeChannels(
  configured: readonly ChannelSetting[],
  known: ReadonlyMap<string, ChannelState>,
): readonly ShownChannel[] {
  const ids = new Set(configured.map(({ channelId }) => channelId))
  const current = configured.map(({ channelId, label, group, isTest }): ShownChannel => {
    const { state, ...found } = known.get(channelId) ?? unseen(channelId)
    return { ...found, label, group, isTest, state: state === 'retired' ? 'new' : state }
  })
  const former = [...known.values()].filter(({ channelId }) => !ids.has(channelId))
  return [...current, ...former.map((channel): ShownChannel => ({ ...channel, state: 'retired' }))]
}

function unseen(channelId: string): ShownChannel {
  const nothing = { name: null, label: null, group: null, isTest: false, lastLandedAt: null }
  return { channelId, ...nothing, state: 'new', visitors: 0, watchRecords: 0 }
}

function describe(shown: readonly ShownChannel[], nowMs: number): string[] {
  if (shown.length === 0) return ['no channel is configured, and the warehouse has none; LIVEHOUSE_CHANNELS names them']
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
