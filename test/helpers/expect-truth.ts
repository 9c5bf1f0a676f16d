import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/server.ts'
import { streams } from '../../src/streams/registry.ts'
import type { TestDatabase } from './postgres.ts'
import { readAnswersTable, readStreamTable, sorted } from './read-table.ts'

/** Expects the tables to equal what the service has, value by value; for all streams if none are named. */
export async function expectTruth(
  { emulator, database }: { readonly emulator: Emulator; readonly database: Pick<TestDatabase, 'db'> },
  names: readonly string[] = streams.map(({ name }) => name),
): Promise<void> {
  const truth = emulator.truth()
  for (const name of names) {
    expect(truth[name]?.length, `${name} in the world`).toBeGreaterThan(0)
    const [actual, expected] = [sorted(await readStreamTable(database.db, name)), sorted(truth[name] ?? [])]
    // `toEqual` is slow, but shows the difference.
    if (!isDeepStrictEqual(actual, expected)) expect(actual, name).toEqual(expected)
  }
  if (names.includes('signups')) {
    expect(sorted(await readAnswersTable(database.db)), 'signup_answers').toEqual(sorted(truth.signup_answers))
  }
  if (names.includes('visitors')) {
    const channels = database.db.selectFrom('livehouse.channels').select(['channel_id', 'name', 'admin_id'])
    expect(sorted(await channels.execute()), 'channels').toEqual(sorted(truth.channels))
  }
}
