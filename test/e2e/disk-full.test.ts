import { expect, test } from 'vitest'
import { runQuery } from '../../src/store/pool.ts'
import { ofFile } from '../helpers/of-file.ts'
import { startAccount } from '../helpers/start-account.ts'

const account = ofFile(() => startAccount({ channels: 1, viewers: 50, days: 2 }))

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
])('a disk that is full while %s is written is named, and with room a sync brings all', async (table, ended) => {
  const { db } = account.database
  await runQuery(db, fillDisk(table))
  const { code, errors } = await account.sync()
  expect(code).toBe(ended)
  const said = /No space left.* \(53100\)\. Its disk is full: make room there, then run again/
  const error = { code: 'db.refused', message: expect.stringMatching(said) }
  expect(errors).toContainEqual(expect.objectContaining(error))
  await runQuery(db, 'drop function public.disk_full() cascade')
  expect((await account.sync()).code).toBe(0)
  await account.expectTruth()
})
