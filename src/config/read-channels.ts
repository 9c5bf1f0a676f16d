import type { ChannelSetting } from '../app/settings.ts'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { PlacedChannel } from './channel-setting.ts'
import { readChannelsCsv } from './read-channels-csv.ts'
import { reasonOf, type SettingSource } from './setting-source.ts'
import { show } from './values.ts'

const NAME = 'LIVEHOUSE_CHANNELS'

/** The configured channels, at least one. */
export function readChannels(source: SettingSource): readonly ChannelSetting[] {
  if (!source.isSet(NAME)) {
    source.refuse(
      `${NAME} is not set; it should be channel ids separated by commas, or @ and the path of a file of them`,
    )
  }
  return readChannelsIfAny(source)
}

/** The configured channels; none where `LIVEHOUSE_CHANNELS` is not set (the manager streams need none). */
export function readChannelsIfAny(source: SettingSource): readonly ChannelSetting[] {
  const given = source.value(NAME)
  if (given === undefined) return []
  const refuse = (problem: string): void => source.refuse(`${NAME}: ${problem}`)
  const placed = given.startsWith('@') ? readFile(given.slice(1).trim(), refuse) : readList(given)
  const channels = new Map<string, ChannelSetting>()
  for (const { place, channel } of placed) {
    const { channelId } = channel
    if (!/^[\w-]{1,64}$/.test(channelId)) {
      const what = channelId === '' ? 'an id is empty' : `${show(channelId)} is not a channel id`
      refuse(`${place}${what}; it should be 1 to 64 letters, digits, - or _`)
    } else if (channels.has(channelId)) refuse(`${place}channel ${channelId} is there twice; it should be there once`)
    else channels.set(channelId, channel)
  }
  return [...channels.values()]
}

function readList(text: string): readonly PlacedChannel[] {
  return text.split(',').map((part, index) => ({ place: `entry ${index + 1}: `, channel: plainChannel(part.trim()) }))
}

function readFile(path: string, refuse: (problem: string) => void): readonly PlacedChannel[] {
  const text = readText(path, refuse)
  if (text === undefined) return []
  const file = basename(path)
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*$/, '').trim())
  const isCsv = /(^|,)\s*"?channel_id"?\s*(,|$)/.test(lines.find((line) => line !== '') ?? '')
  const placed = isCsv
    ? readChannelsCsv(text, file, refuse)
    : lines.flatMap((line, index) =>
        line === '' ? [] : [{ place: `${file} line ${index + 1}: `, channel: plainChannel(line) }],
      )
  if (placed?.length === 0) refuse(`${file} names no channel; it should have one id a line, or CSV with a header`)
  return placed ?? []
}

function readText(path: string, refuse: (problem: string) => void): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not UTF-8 text' : reasonOf(error)
    refuse(`the file ${path} cannot be read (${reason}); it should hold channel ids`)
    return undefined
  }
}

function plainChannel(channelId: string): ChannelSetting {
  return { channelId, label: null, group: null, from: null, until: null, isTest: false }
}
