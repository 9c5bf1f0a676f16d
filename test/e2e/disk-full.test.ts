import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'

const database = ofFile(createTestDatabase)
const emulator = ofFile(() => startEmulator({ channels: 1, viewers: 50, days: 2 }))

/** As the server answers when its disk is full while rows are written (SQLSTATE 53100). */
async function fillDisk(table: string): Promise<void> {
  await sql`create function public.disk_full() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100';
  end $$`.execute(database.db)
  await sql`create trigger disk_full before insert on ${sql.table(table)} execute function public.disk_full()`.execute(
    database.db,
  )
}

test.each([
  // Signups are read when other streams have landed.
  ['livehouse.signups', 3],
  ['livehouse_ops.slices', 1],
])(
  'a disk that is full while %s is written is named with its mend, and with room the next sync brings all',
  async (table, code) => {
    await fillDisk(table)
    const environment = environmentOf(emulator, database)
    const full = await runVerb(sync, ['--json'], { environment })
    expect(full.code).toBe(code)
    const { errors } = Object(JSON.parse(full.printed.join()))
    expect(errors).toContainEqual(
      expect.objectContaining({
        code: 'db.refused',
        message: expect.stringMatching(/No space left.* \(53100\)\. Its disk is full: make room there, then run again/),
      }),
    )
    await sql`drop function public.disk_full() cascade`.execute(database.db)
    expect((await runVerb(sync, [], { environment })).code).toBe(0)
    await expectTruth({ emulator, database })
  },
)
