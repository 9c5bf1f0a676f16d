import { basename } from 'node:path'
import { openWarehouse } from '../app/open-warehouse.ts'
import { readTable, readTextFile } from '../config/read-csv.ts'
import { quote } from '../config/values.ts'
import { readDatabaseSettings, readSettings } from '../config.ts'
import { type GiftLabel, readGiftLabels, writeGiftLabels } from '../ledger/gift-labels.ts'
import { formatCount } from './format.ts'
import { defineCommand, type Refuse, refuseWords } from './usage.ts'

const COLUMNS = ['gift_type', 'gift_id', 'label', 'gift_group'] as const

export const labels = defineCommand(
  {
    about: `Exports and imports your names for gifts, as the service gives them only numbers. The labels are in
livehouse_bi.dim_gift (gift_title, gift_label, gift_group); no sync changes them.`,
    actions: {
      export: 'prints CSV, to be filled in and imported: each gift that was given or has a label',
      import: 'reads CSV with gift_id, label and optionally gift_type and gift_group; an empty label removes it',
    },
    words: '[FILE]',
    flags: {},
    notes: 'Exit codes: 0 done, 1 the database cannot be reached, 2 wrong use: nothing is imported.',
    examples: `livehouse labels export > gifts.csv
livehouse labels import gifts.csv`,
  },
  ({ action, words: [path] }, refuse) => {
    if (action === 'export') refuseWords(path === undefined ? [] : [path], refuse)
    else if (path === undefined) refuse('import needs a file of CSV')
    else return readLabelsCsv(readTextFile(path, 'it should be CSV', refuse), basename(path), refuse)
    return undefined
  },
  async (context, given) => {
    await using db = await openWarehouse(context, readSettings(context.environment, readDatabaseSettings))
    if (given !== undefined) {
      await writeGiftLabels(db, given)
      context.print(`imported: ${formatCount(given.length, 'gift')}`)
      return 0
    }
    context.print(COLUMNS.join(','))
    for (const { giftType, giftId, label, group } of await readGiftLabels(db))
      context.print([giftType, giftId, label ?? '', group ?? ''].map(quoteCell).join(','), 'data')
    return 0
  },
)

function quoteCell(text: string): string {
  return /[",\r\n#]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const MAX_ID = 2n ** 63n - 1n

/** Reads labels from CSV; each problem names its line. @param file the name of the file */
function readLabelsCsv(text: string | undefined, file: string, refuse: Refuse): readonly GiftLabel[] {
  const firstLines = new Map<string, number>()
  const columns = { needed: ['gift_id', 'label'], optional: ['gift_type', 'gift_group'] }
  const rows = text === undefined ? [] : readTable(text, file, columns, refuse)
  return (rows ?? []).map(({ line, cell }) => {
    const problem = (sentence: string): void => refuse(`${file} line ${line}: ${sentence}`)
    const given = cell('gift_type').toLowerCase()
    if (!['', 'cash', 'prop'].includes(given))
      problem(`gift_type is ${quote(given)}; it should be cash, prop or empty (prop)`)
    const giftType = given === 'cash' ? 'cash' : 'prop'
    const id = cell('gift_id')
    const isId = /^\d{1,19}$/.test(id) && BigInt(id) <= MAX_ID
    if (!isId) problem(`gift_id is ${quote(id)}; it should be a whole number, the id that the service gives the gift`)
    const giftId = isId ? BigInt(id).toString() : id
    const earlier = firstLines.get(`${giftType}:${giftId}`)
    if (earlier !== undefined) problem(`${giftType} gift ${giftId} is listed twice, first on line ${earlier}`)
    firstLines.set(`${giftType}:${giftId}`, line)
    return { giftType, giftId, label: cell('label') || null, group: cell('gift_group') || null }
  })
}
