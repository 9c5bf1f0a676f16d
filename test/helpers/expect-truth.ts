import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/server.ts'
import { streams } from '../../src/streams/registry.ts'
import type { TestDatabase } from './postgres.ts'
import { readAnswersTable, readChannelsTable, readStreamTable, sorted } from './read-table.ts'

/** The tables are equal to what the service has, value by value; of every stream when none is named. */
export async function expectTruth(
  { emulator, database }: { readonly emulator: Emulator; readonly database: Pick<TestDatabase, 'db'> },
  names: readonly string[] = streams.map(({ name }) => name),
): Promise<void> {
  const truth = emulator.truth()
  for (const name of names) {
    expect(truth[name]?.length, `${name} in the world`).toBeGreaterThan(0)
    const [held, wanted] = [sorted(await readStreamTable(database.db, name)), sorted(truth[name] ?? [])]
    // `toEqual` asks for no more, slowly: it shows the difference.
    if (!isDeepStrictEqual(held, wanted)) expect(held, name).toEqual(wanted)
  }
  if (names.includes('signups')) {
    expect(sorted(await readAnswersTable(database.db)), 'signup_answers').toEqual(sorted(truth.signup_answers))
  }
  if (names.includes('visitors')) {
    expect(sorted(await readChannelsTable(database.db)), 'channels').toEqual(sorted(truth.channels))
  }
}
