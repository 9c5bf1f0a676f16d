import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { copyDatabase } from '../../src/store/copy-database.ts'
import type { Database } from '../../src/store/database.ts'
import { createTestDatabase } from '../helpers/postgres.ts'

const signal = new AbortController().signal

async function addChannel(db: Kysely<Database>, name: string): Promise<void> {
  await sql`insert into livehouse.channels (channel_id, name, state, run_id) values (${name}, ${name}, 'active', 1)`.execute(
    db,
  )
}

async function channelNames(db: Kysely<Database>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select name from livehouse.channels order by 1`.execute(db)
  return rows.map(({ name }) => name)
}

test('a database in use is refused and keeps what it has', async () => {
  await using source = await createTestDatabase()
  await using target = await createTestDatabase()
  await addChannel(source.db, 'new')
  await addChannel(target.db, 'old')
  const copy = copyDatabase({ from: source.url, to: target.url, toSetting: '--to', signal, onTable: () => {} })
  await expect(copy).rejects.toMatchObject({ code: 'db.copyRefused', message: /livehouse\.channels has rows already/ })
  expect(await channelNames(target.db)).toEqual(['old'])
})

test.each([
  ['changes a row on its way in', 'new.name := upper(new.name); return new;', /with other contents/],
  ['swallows a row', 'return null;', /has 1 rows, its copy 0/],
])('a target that %s is found out, and nothing stays in it', async (_, body, message) => {
  await using source = await createTestDatabase()
  await using target = await createTestDatabase()
  await addChannel(source.db, 'one')
  const trigger = `create function tamper() returns trigger language plpgsql as $$ begin ${body} end $$;
    create trigger tamper before insert on livehouse.channels for each row execute function tamper()`
  await sql.raw(trigger).execute(target.db)
  const copy = copyDatabase({ from: source.url, to: target.url, toSetting: '--to', signal, onTable: () => {} })
  await expect(copy).rejects.toMatchObject({ code: 'db.copyRefused', message })
  expect(await channelNames(target.db)).toEqual([])
})

test('a copy that is interrupted leaves nothing', async () => {
  await using source = await createTestDatabase()
  await using target = await createTestDatabase()
  await addChannel(source.db, 'one')
  const stop = new AbortController()
  const reason = new Error('stopped')
  const onTable = ({ name }: { name: string }) => void (name === 'livehouse.channels' && stop.abort(reason))
  const copy = copyDatabase({ from: source.url, to: target.url, toSetting: '--to', signal: stop.signal, onTable })
  await expect(copy).rejects.toBe(reason)
  expect(await channelNames(target.db)).toEqual([])
})
