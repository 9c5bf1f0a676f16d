import { expect, test } from 'vitest'
import { sync } from '../../src/cli/sync.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { runQuery } from '../../src/store/pool.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { environmentOf, runVerb } from '../helpers/run-verb.ts'

const database = ofFile(createTestDatabase)
const emulator = ofFile(() => startEmulator({ channels: 1, viewers: 50, days: 2 }))

/** As the server answers when its disk is full while rows are written (SQLSTATE 53100). */
const fillDisk = (table: string) => `
  create function public.disk_full() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100';
  end $$;
  create trigger disk_full before insert on ${table} execute function public.disk_full()`

test.each([
  // Signups are read when other streams have landed.
  ['livehouse.signups', 3],
  ['livehouse_ops.slices', 1],
])(
  'a disk that is full while %s is written is named with its mend, and with room the next sync brings all',
  async (table, code) => {
    await runQuery(database.db, fillDisk(table))
    const environment = environmentOf(emulator, database)
    const full = await runVerb(sync, ['--json'], { environment })
    expect(full.code).toBe(code)
    const { errors } = JSON.parse(full.printed.join())
    const said = /No space left.* \(53100\)\. Its disk is full: make room there, then run again/
    const error = { code: 'db.refused', message: expect.stringMatching(said) }
    expect(errors).toContainEqual(expect.objectContaining(error))
    await runQuery(database.db, 'drop function public.disk_full() cascade')
    expect((await runVerb(sync, [], { environment })).code).toBe(0)
    await expectTruth({ emulator, database })
  },
)
