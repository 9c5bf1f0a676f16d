import { basename } from 'node:path'
import type { ChannelSetting } from '../app/settings.ts'
import { isHeader, readTable, readTextFile } from './read-csv.ts'
import type { SettingSource } from './setting-source.ts'
import { isDate, quote } from './values.ts'

const NAME = 'LIVEHOUSE_CHANNELS'

/** The configured channels, at least one. */
export function readChannels(source: SettingSource): readonly ChannelSetting[] {
  if (!source.isSet(NAME))
    source.refuse(`${NAME} is not set; it should be channel ids separated by commas, or @ and the path of a file`)
  return readChannelsIfAny(source)
}

/** The configured channels; none if `LIVEHOUSE_CHANNELS` is not set, as the manager streams need none. */
export function readChannelsIfAny(source: SettingSource): readonly ChannelSetting[] {
  const given = source.value(NAME)
  if (given === undefined) return []
  const refuse = (problem: string): void => source.refuse(`${NAME}: ${problem}`)
  if (/^([^@,]*\.(csv|tsv|txt)|\.{0,2}\/[^,]*)$/i.test(given)) {
    refuse(`${quote(given)} looks like a file; it should be @${given}`)
    return []
  }
  const placed = given.startsWith('@') ? readFile(given.slice(1).trim(), refuse) : readList(given)
  const channels = new Map<string, ChannelSetting>()
  for (const { place, channel } of placed) {
    const { channelId } = channel
    if (!/^[\w-]{1,64}$/.test(channelId)) {
      const what = channelId === '' ? 'an id is empty' : `${quote(channelId)} is not a channel id`
      refuse(`${place}${what}; it should be 1 to 64 letters, digits, - or _`)
    } else if (channels.has(channelId)) refuse(`${place}channel ${channelId} is listed twice; it should be listed once`)
    else channels.set(channelId, channel)
  }
  return [...channels.values()]
}

/** The channels of a comma-separated list, each with its place, for error messages. */
function readList(text: string) {
  return text.split(',').map((part, index) => ({ place: `entry ${index + 1}: `, channel: plainChannel(part.trim()) }))
}

/** The channels of a file, each with its place, such as `channels.csv line 3: `. */
function readFile(path: string, refuse: (problem: string) => void) {
  const text = readTextFile(path, 'it should hold channel ids', refuse)
  if (text === undefined) return []
  const file = basename(path)
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*$/, '').trim())
  const placed = isHeader(lines.find((line) => line !== '') ?? '', columns)
    ? readChannelsCsv(text, file, refuse)
    : lines.flatMap((line, index) =>
        line === '' ? [] : [{ place: `${file} line ${index + 1}: `, channel: plainChannel(line) }],
      )
  if (placed?.length === 0) refuse(`${file} names no channel; it should have one id a line, or CSV with a header`)
  return placed ?? []
}

function plainChannel(channelId: string): ChannelSetting {
  return { channelId, label: null, group: null, from: null, until: null, isTest: false }
}

const columns = { needed: ['channel_id'], optional: ['label', 'group', 'from', 'until', 'is_test'] }

/** The channels of a CSV file; undefined if it is malformed. */
function readChannelsCsv(text: string, file: string, refuse: (problem: string) => void) {
  return readTable(text, file, columns, refuse)?.map(({ line, cell }) => {
    const place = `${file} line ${line}: `
    const problem = (sentence: string): void => refuse(place + sentence)
    const isTest = /^(1|true|yes)$/i.test(cell('is_test'))
    if (!isTest && !/^(0|false|no|)$/i.test(cell('is_test')))
      problem(`is_test is ${quote(cell('is_test'))}; it should be true or false`)
    const [from, until] = ['from', 'until'].map((name) => {
      const given = cell(name)
      if (given === '' || isDate(given)) return given || null
      problem(`${name} is ${quote(given)}; it should be a date that exists, written 2026-01-31`)
      return null
    })
    if (from && until && from > until) problem(`until is ${until}; it should not be before from, ${from}`)
    const label = cell('label') || null
    const group = cell('group') || null
    const channelId = cell('channel_id')
    return { place, channel: { channelId, label, group, from: from ?? null, until: until ?? null, isTest } }
  })
}
