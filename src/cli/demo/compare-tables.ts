import type { Kysely } from 'kysely'
import { streamNames } from '../../core/stream.ts'
import type { Database } from '../../db/database.ts'
import { countRows, readTableNames } from '../../db/run-query.ts'
import { countTruth, truthTables } from '../../emulator/truth.ts'
import type { World } from '../../emulator/world/world.ts'
import { streams } from '../../streams/registry.ts'

/** A table, how many rows landed, and how many the emulator's world has for it. */
export interface TableComparison {
  readonly table: string
  readonly landed: number
  readonly expected: number
}

/** Every table that a sync fills, and those that come with one of them, in the order of the contract. */
export async function compareTables(db: Kysely<Database>, world: World): Promise<readonly TableComparison[]> {
  const filled: ReadonlySet<string> = new Set(streams.map(({ table }) => table))
  const ofStreams: ReadonlySet<string> = new Set(streamNames)
  const existing = await readTableNames(db)
  const expected = countTruth(world)
  const compared = truthTables.filter((table) => filled.has(table) || (!ofStreams.has(table) && existing.has(table)))
  return Promise.all(
    compared.map(async (table) => ({ table, landed: await countRows(db, table), expected: expected[table] })),
  )
}
