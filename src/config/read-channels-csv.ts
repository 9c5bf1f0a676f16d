import type { PlacedChannel } from './channel-setting.ts'
import { parseCsv } from './parse-csv.ts'
import { isDate, show } from './values.ts'

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
 * Channels from CSV with a header that names some of `channel_id,label,group,from,until,is_test`, in any order; undefined
 * where it cannot be read as that.
 */
export function readChannelsCsv(
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
