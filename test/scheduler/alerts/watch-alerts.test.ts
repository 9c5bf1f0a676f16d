import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Clock } from '../../../src/core/clock.ts'
import type { Database } from '../../../src/store/database.ts'
import { openDatabase } from '../../../src/store/pool.ts'
import type { Post } from '../../../src/app/alerts/deliver-notices.ts'
import { createFakeClock } from '../../helpers/fake-clock.ts'
import { createTestDatabase, onServer } from '../../helpers/postgres.ts'
import { createRecordingLog } from '../../helpers/recording-log.ts'
import { createLook, type WatchOptions } from '../../../src/scheduler/alerts/watch-alerts.ts'

function optionsOf(db: Kysely<Database>, clock: Clock, post: Post): WatchOptions {
  return {
    db,
    signal: new AbortController().signal,
    host: 'a',
    channel: {
      url: 'https://robot.example.com',
      format: 'json',
      language: 'en',
      secret: null,
      keyword: null,
      clock,
      log: createRecordingLog().log,
      post,
    },
  }
}

test('what is found is told once by all processes; each tells once of a database that stays away, and is back', async () => {
  await using database = await createTestDatabase()
  await using db = await openDatabase(database.url)
  const told: string[] = []
  let isTaken = true
  const clock = createFakeClock({ isAutomatic: true })
  const start = () =>
    createLook(
      optionsOf(db, clock, async ({ body }) => {
        if (!isTaken) return { status: undefined, failure: 'no connection' }
        for (const { event, cause } of Object(JSON.parse(body ?? '')).events) told.push(`${event} ${cause}`)
        return { status: 200, text: '' }
      }),
    )
  const looks = [start(), start()]
  const lookAll = async () => {
    for (const look of looks) await look()
    await clock.sleep(60_000)
    return told.splice(0)
  }
  await sql`insert into livehouse.channels (channel_id, state, run_id) values ('9', 'gone', 1)`.execute(db)
  expect(await lookAll()).toEqual(['raised channel=9'])
  expect(await lookAll()).toEqual([])

  const allow = (connections: boolean) =>
    onServer(async (admin) => {
      await sql`alter database ${sql.id(database.name)} allow_connections ${sql.raw(String(connections))}`.execute(
        admin,
      )
      if (!connections) {
        await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${database.name}`.execute(
          admin,
        )
      }
    })
  await allow(false)
  // It may only be started anew.
  expect(await lookAll()).toEqual([])
  expect(await lookAll()).toEqual([])
  isTaken = false
  expect(await lookAll()).toEqual([])
  isTaken = true
  expect(await lookAll()).toEqual(['raised database=a', 'raised database=a'])
  expect(await lookAll()).toEqual([])
  await allow(true)
  isTaken = false
  expect(await lookAll()).toEqual([])
  isTaken = true
  expect(await lookAll()).toEqual(['cleared database=a', 'cleared database=a'])
  expect(await lookAll()).toEqual([])
})

test('a disk on which nothing can be written down is told of by its name', async () => {
  await using database = await createTestDatabase()
  const { db } = database
  await sql`insert into livehouse.channels (channel_id, state, run_id) values ('9', 'gone', 1)`.execute(db)
  await sql`create function public.disk_full() returns trigger language plpgsql as $$ begin
    raise exception 'No space left on device' using errcode = '53100'; end $$`.execute(db)
  await sql`create trigger disk_full before insert on livehouse_ops.alerts execute function public.disk_full()`.execute(
    db,
  )
  const clock = createFakeClock({ isAutomatic: true })
  const told: string[] = []
  const post: Post = async ({ body }) => {
    told.push(body ?? '')
    return { status: 200, text: '' }
  }
  const look = createLook(optionsOf(db, clock, post))
  for (let minute = 0; minute < 4; minute++) {
    await look()
    await clock.sleep(60_000)
  }
  expect(told).toEqual([expect.stringMatching(/"raised".*"database=a".*disk/)])
})
