import { CsvError, parse } from 'csv-parse/sync'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import type { ChannelSetting } from '../app/settings.ts'
import type { PlacedChannel } from './channel-setting.ts'
import { reasonOf, type SettingSource } from './setting-source.ts'
import { isDate, show } from './values.ts'

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

const COLUMNS = ['channel_id', 'label', 'group', 'from', 'until', 'is_test']
const truths: Readonly<Record<string, boolean>> = {
  '': false,
  '0': false,
  false: false,
  no: false,
  '1': true,
  true: true,
  yes: true,
}

/**
 * Channels from CSV with a header that names some of `channel_id,label,group,from,until,is_test`, in any order;
 * undefined where it cannot be read as that.
 */
function readChannelsCsv(
  text: string,
  file: string,
  refuse: (problem: string) => void,
): readonly PlacedChannel[] | undefined {
  const [header, ...records] = parseCsv(text, file, refuse)
  if (!header) return undefined
  const names = header.record
  const unknown = names.filter((name, index) => !COLUMNS.includes(name) || names.indexOf(name) !== index)
  if (unknown.length > 0) {
    refuse(
      `${file} has the column ${unknown.map(show).join(', ')}; it should have each of ${COLUMNS.join(',')} at most once`,
    )
    return undefined
  }
  return records.map(({ info, record }) => {
    const place = `${file} line ${info.lines}: `
    const problem = (sentence: string): void => refuse(place + sentence)
    if (record.length !== names.length) {
      problem(`there are ${record.length} cells; it should have ${names.length}, as the header has`)
    }
    const cell = (name: string): string => record[names.indexOf(name)] ?? ''
    const isTest = truths[cell('is_test').toLowerCase()]
    if (isTest === undefined) problem(`is_test is ${show(cell('is_test'))}; it should be true or false`)
    const [from, until] = ['from', 'until'].map((name) => {
      const given = cell(name)
      if (given === '' || isDate(given)) return given || null
      problem(`${name} is ${show(given)}; it should be a date that exists, written 2026-01-31`)
      return null
    })
    if (from && until && from >= until) problem(`until is ${until}; it should be after from, ${from}`)
    const label = cell('label') || null
    const group = cell('group') || null
    const channelId = cell('channel_id')
    return {
      place,
      channel: { channelId, label, group, from: from ?? null, until: until ?? null, isTest: isTest ?? false },
    }
  })
}

const recordsSchema = z.array(z.object({ info: z.object({ lines: z.number() }), record: z.array(z.string()) }))

/** A line of CSV as cells, with the number of the line that it ends on. */
type CsvRecord = z.infer<typeof recordsSchema>[number]

/** The lines of CSV with the header, without blank ones and `#` comments; none where it is no CSV, which is refused. */
export function parseCsv(text: string, file: string, refuse: (problem: string) => void): readonly CsvRecord[] {
  try {
    return recordsSchema.parse(
      parse(text, {
        comment: '#',
        comment_no_infix: true,
        info: true,
        relax_column_count: true,
        skip_empty_lines: true,
        trim: true,
      }),
    )
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    refuse(`${file} is not CSV: ${error.message}; quotes should be closed, and doubled inside a cell`)
    return []
  }
}
