import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { copyDatabase } from '../../src/store/copy-database.ts'
import type { Database } from '../../src/store/database.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { startPipeline } from '../helpers/start-pipeline.ts'

const signal = new AbortController().signal
const onTable = () => {}

async function addChannel(db: Kysely<Database>, name: string): Promise<void> {
  await sql`insert into livehouse.channels (channel_id, name, state, run_id) values (${name}, ${name}, 'active', 1)`.execute(
    db,
  )
}

async function channelNames(db: Kysely<Database>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select name from livehouse.channels order by 1`.execute(db)
  return rows.map(({ name }) => name)
}

test('rows, ledger and numbers go on in the copy as in the original', async () => {
  await using pipeline = await startPipeline({ channels: 2, viewers: 60, days: 10 })
  await pipeline.sync()
  await using target = await createTestDatabase()
  const seen: string[] = []
  const copied = await copyDatabase({
    from: pipeline.database.url,
    to: target.url,
    toSetting: '--to',
    signal,
    onTable: ({ name }) => seen.push(name),
  })
  const rowsOf = Object.fromEntries(copied.map(({ name, rows }) => [name, rows]))
  expect(seen).toEqual(copied.map(({ name }) => name))
  for (const table of ['livehouse.visitors', 'livehouse.signup_answers', 'livehouse_ops.slices']) {
    const query = sql.raw<{ rows: string }>(
      `select jsonb_agg(to_jsonb(t) order by t::text)::text as rows from ${table} t`,
    )
    const [original, copy] = await Promise.all([pipeline.database.db, target.db].map((db) => query.execute(db)))
    expect(copy?.rows).toEqual(original?.rows)
    expect(rowsOf[table]).toBeGreaterThan(0)
  }
  const nextRun = sql<{ id: string }>`insert into livehouse_ops.runs (command, settings, status, started_at)
    values ('sync', '{}', 'running', now()) returning run_id as id`
  const [original, copy] = await Promise.all([pipeline.database.db, target.db].map((db) => nextRun.execute(db)))
  expect(copy?.rows).toEqual(original?.rows)
})

test('a database in use is refused and keeps what it has', async () => {
  await using source = await createTestDatabase()
  await using target = await createTestDatabase()
  await addChannel(source.db, 'new')
  await addChannel(target.db, 'old')
  const copy = copyDatabase({ from: source.url, to: target.url, toSetting: '--to', signal, onTable })
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
  const copy = copyDatabase({ from: source.url, to: target.url, toSetting: '--to', signal, onTable })
  await expect(copy).rejects.toMatchObject({ code: 'db.copyRefused', message })
  expect(await channelNames(target.db)).toEqual([])
})

test('a copy that is interrupted leaves nothing', async () => {
  await using source = await createTestDatabase()
  await using target = await createTestDatabase()
  await addChannel(source.db, 'one')
  const stop = new AbortController()
  const reason = new Error('stopped')
  const copy = copyDatabase({
    from: source.url,
    to: target.url,
    toSetting: '--to',
    signal: stop.signal,
    onTable: ({ name }) => {
      if (name === 'livehouse.channels') stop.abort(reason)
    },
  })
  await expect(copy).rejects.toBe(reason)
  expect(await channelNames(target.db)).toEqual([])
})
