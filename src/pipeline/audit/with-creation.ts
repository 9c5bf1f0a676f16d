import type { Kysely } from 'kysely'
import type { Stream } from '../../core/stream.ts'
import type { Database } from '../../db/database.ts'
import type { DifferingRow } from '../../warehouse/compare-rows.ts'
import { readManagerCreations } from '../../warehouse/manager-creations.ts'

/** Of an account whose usage was never read either: nothing says that it was there when the list was read. */
const NEVER_SEEN = '9999-12-30'

/** The list of managers tells no times: when an account was created is taken from what is held of its usage. */
export async function withCreation(
  db: Kysely<Database>,
  { name }: Stream,
  rows: readonly DifferingRow[],
): Promise<readonly DifferingRow[]> {
  const missing = rows.filter(({ kind }) => kind === 'missing')
  if (name !== 'managers' || missing.length === 0) return rows
  const creations = await readManagerCreations(
    db,
    missing.map(({ key }) => key),
  )
  return rows.map((each) =>
    each.kind === 'missing'
      ? { ...each, row: { ...each.row, created_on: creations.get(each.key) ?? NEVER_SEEN } }
      : each,
  )
}
