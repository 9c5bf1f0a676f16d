import { parseCsv } from '../../config/parse-csv.ts'
import { show } from '../../config/values.ts'
import { cleanText } from '../../core/clean-text.ts'
import type { GiftLabel } from '../../state/gift-labels.ts'

/** The header that `labels export` writes. */
export const LABEL_COLUMNS = ['gift_type', 'gift_id', 'label', 'gift_group'] as const

const needed = ['gift_id', 'label'] as const
const LARGEST_ID = 2n ** 63n - 1n

/** Labels from CSV, columns in any order; each problem is refused with its line. @param file its name, for the problems */
export function readLabelsCsv(text: string, file: string, refuse: (problem: string) => void): readonly GiftLabel[] {
  const [header, ...records] = parseCsv(text, file, refuse)
  const names = header?.record ?? []
  const isKnown = (name: string) => LABEL_COLUMNS.some((column) => column === name)
  const unknown = names.filter((name, index) => !isKnown(name) || names.indexOf(name) !== index)
  const missing = needed.filter((name) => !names.includes(name))
  if (header === undefined) refuse(`${file} is empty; it should have the header ${LABEL_COLUMNS.join(',')}`)
  if (unknown.length > 0)
    refuse(
      `${file} has the column ${unknown.map(show).join(', ')}; it should have each of ${LABEL_COLUMNS.join(',')} at most once`,
    )
  if (header !== undefined && missing.length > 0) refuse(`${file} lacks the column ${missing.join(' and ')}`)
  if (unknown.length > 0 || missing.length > 0) return []

  const seen = new Map<string, number>()
  return records.map(({ info, record }) => {
    const problem = (sentence: string): void => refuse(`${file} line ${info.lines}: ${sentence}`)
    if (record.length !== names.length)
      problem(`there are ${record.length} cells; it should have ${names.length}, as the header has`)
    const cell = (name: string): string => cleanText(record[names.indexOf(name)] ?? '')
    const giftType = readType(cell('gift_type'), problem)
    const giftId = readId(cell('gift_id'), problem)
    const [label, group] = [cell('label') || null, cell('gift_group') || null]
    if (label === null && group !== null) problem(`the group ${show(group)} has no label beside it`)
    const earlier = seen.get(`${giftType}:${giftId}`)
    if (earlier !== undefined) problem(`${giftType} gift ${giftId} is there twice, first on line ${earlier}`)
    else seen.set(`${giftType}:${giftId}`, info.lines)
    return { giftType, giftId, label, group }
  })
}

function readType(given: string, problem: (sentence: string) => void): GiftLabel['giftType'] {
  const type = given.toLowerCase()
  if (type === 'cash' || type === 'prop') return type
  if (type !== '') problem(`gift_type is ${show(given)}; it should be cash, prop or empty (prop)`)
  return 'prop'
}

function readId(given: string, problem: (sentence: string) => void): string {
  if (/^\d{1,19}$/.test(given) && BigInt(given) <= LARGEST_ID) return BigInt(given).toString()
  problem(`gift_id is ${show(given)}; it should be a whole number, the id that the service gives the gift`)
  return given
}
