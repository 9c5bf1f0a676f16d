import type { Kysely } from 'kysely'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { openWarehouse } from '../app/open-warehouse.ts'
import { readDatabaseSettings, readSettings } from '../config.ts'
import { reasonOf } from '../config/setting-source.ts'
import type { Database } from '../db/database.ts'
import { readGiftLabels, writeGiftLabels } from '../state/gift-labels.ts'
import type { CliContext } from './command.ts'
import { LABEL_COLUMNS, readLabelsCsv } from './labels/read-labels-csv.ts'
import { formatTable } from './table.ts'
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
    else await show(context, db, action === 'export' ? 'csv' : isJson ? 'json' : 'table')
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
  { print }: CliContext,
  db: Kysely<Database>,
  given: ReturnType<typeof readLabelsCsv>,
  isJson: boolean,
): Promise<void> {
  const counts = await writeGiftLabels(db, given)
  const { inserted, updated, unchanged, removed } = counts
  if (isJson) print(JSON.stringify({ imported: counts }))
  else print(`labels: ${inserted} new, ${updated} changed, ${unchanged} unchanged, ${removed} removed`)
}

async function show({ print }: CliContext, db: Kysely<Database>, form: 'csv' | 'json' | 'table'): Promise<void> {
  const rows = (await readGiftLabels(db)).map(({ giftType, giftId, label, group, count }) => ({
    gift_type: giftType,
    gift_id: giftId,
    label,
    gift_group: group,
    gift_count: count,
  }))
  if (form === 'json') return print(JSON.stringify({ labels: rows }))
  if (form === 'csv') {
    for (const cells of [LABEL_COLUMNS, ...rows.map((row) => LABEL_COLUMNS.map((name) => row[name] ?? ''))])
      print(cells.map(csvCell).join(','))
    return undefined
  }
  if (rows.length === 0) return print('no gift was given, and none has a label')
  const header = ['type', 'gift', 'label', 'group', 'given']
  for (const line of formatTable(
    header,
    rows.map((row) => Object.values(row)),
  ))
    print(line)
  return undefined
}

function csvCell(text: string): string {
  return /[",\r\n#]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
