import type { Kysely } from 'kysely'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { openWarehouse } from '../app/open-warehouse.ts'
import { readDatabaseSettings, readSettings } from '../config.ts'
import { parseCsv } from '../config/read-channels.ts'
import { reasonOf } from '../config/setting-source.ts'
import { show } from '../config/values.ts'
import { cleanText } from '../core/clean-text.ts'
import type { Database } from '../store/database.ts'
import { type GiftLabel, readGiftLabels, writeGiftLabels } from '../ledger/gift-labels.ts'
import type { CliContext } from './command.ts'
import { formatTable, printResult } from './format.ts'
import { defineCommand } from './usage.ts'
import type { Refuse } from './wrong-use.ts'

/** `livehouse labels`: what operators call the gifts. */
export const labels = defineCommand(
  {
    verb: 'labels',
    about: `What you call the gifts: the service gives them numbers only. The labels stand in livehouse_bi.dim_gift (gift_title, gift_label,
gift_group) and are yours: no sync changes them. Asks the database alone.`,
    actions: {
      import:
        'reads a FILE of CSV in UTF-8 with the columns gift_id and label, and if you like gift_type (cash or prop; prop where it is ' +
        'empty or not there) and gift_group, in any order. A gift that the file does not name keeps its label; an empty label takes ' +
        'it away. All or nothing; importing the same file again changes nothing',
      list: 'each gift that was given or has a label, with how often it was given',
      export: 'the same as CSV, to be filled in and imported',
    },
    words: '[FILE]',
    flags: {
      json: [
        '',
        'prints one JSON object instead: {"imported": {"inserted", "updated", "unchanged", "removed"}} or {"labels": ' +
          '[{"gift_type", "gift_id", "label", "gift_group", "gift_count"}]}',
        'import',
        'list',
      ],
    },
    notes:
      'Exit codes: 0 done, 1 the database cannot be reached, 2 wrong use, or a line of the file that cannot be read: nothing is imported.',
    examples: `livehouse labels export > gifts.csv
livehouse labels import gifts.csv
livehouse labels list`,
  },
  ({ action, values, words: [path] }, refuse) => {
    if (action !== 'import' && path !== undefined) refuse(`there is no place for ${JSON.stringify(path)}`)
    if (action === 'import' && path === undefined) refuse('import needs a file of CSV')
    const given = action === 'import' && path !== undefined ? readFile(path, refuse) : undefined
    return { action, given, isJson: values.json }
  },
  async (context, { action, given, isJson }) => {
    const settings = readSettings(context.environment, readDatabaseSettings)
    await using db = await openWarehouse(context, { settings, source: undefined })
    if (given !== undefined) await importLabels(context, db, given, isJson)
    else await printLabels(context, db, action === 'export' ? 'csv' : isJson ? 'json' : 'table')
    return 0
  },
)

function readFile(path: string, refuse: Refuse): ReturnType<typeof readLabelsCsv> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
    return readLabelsCsv(text, basename(path), refuse)
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not UTF-8; save it as "CSV UTF-8"' : reasonOf(error)
    refuse(`${path} cannot be read: ${reason}`)
    return []
  }
}

async function importLabels(
  context: CliContext,
  db: Kysely<Database>,
  given: ReturnType<typeof readLabelsCsv>,
  isJson: boolean,
): Promise<void> {
  const counts = await writeGiftLabels(db, given)
  const { inserted, updated, unchanged, removed } = counts
  const line = `labels: ${inserted} new, ${updated} changed, ${unchanged} unchanged, ${removed} removed`
  printResult(context, isJson, { imported: counts }, [line])
}

async function printLabels(context: CliContext, db: Kysely<Database>, form: 'csv' | 'json' | 'table'): Promise<void> {
  const rows = (await readGiftLabels(db)).map(({ giftType, giftId, label, group, count }) => ({
    gift_type: giftType,
    gift_id: giftId,
    label,
    gift_group: group,
    gift_count: count,
  }))
  const csv = [LABEL_COLUMNS, ...rows.map((row) => LABEL_COLUMNS.map((name) => row[name] ?? ''))]
  const cells = rows.map((row) => Object.values(row))
  const table = formatTable(['type', 'gift', 'label', 'group', 'given'], cells)
  const forPeople = rows.length === 0 ? ['no gift was given, and none has a label'] : table
  const lines = form === 'csv' ? csv.map((record) => record.map(csvCell).join(',')) : forPeople
  printResult(context, form === 'json', { labels: rows }, lines)
}

function csvCell(text: string): string {
  return /[",\r\n#]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The header that `labels export` writes. */
const LABEL_COLUMNS = ['gift_type', 'gift_id', 'label', 'gift_group'] as const

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
