import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabase } from '../../../src/db/pool.ts'
import { createLook } from '../../../src/scheduler/alerts/watch-causes.ts'
import { createFakeClock } from '../../helpers/fake-clock.ts'
import { createTestDatabase, onServer } from '../../helpers/postgres.ts'
import { createRecordingLog } from '../../helpers/recording-log.ts'

test('what is found is told once; a database that goes is told from memory, and again when it is back', async () => {
  await using database = await createTestDatabase()
  await using db = await openDatabase(database.url)
  const told: string[] = []
  let isTaken = true
  const look = createLook({
    db,
    jobs: [],
    timeZone: 'Asia/Shanghai',
    streamsOf: async () => [],
    lastDayOf: async () => undefined,
    signal: new AbortController().signal,
    channel: {
      url: 'https://robot.example.com',
      format: 'json',
      language: 'en',
      secret: null,
      keyword: null,
      clock: createFakeClock({ isAutomatic: true }),
      log: createRecordingLog().log,
      post: async ({ body }) => {
        if (!isTaken) return { status: undefined, failure: 'no connection', isLate: false }
        for (const { event, cause } of Object(JSON.parse(body)).events) told.push(`${event} ${cause}`)
        return { status: 200, text: '' }
      },
    },
  })
  await sql`insert into livehouse.channels (channel_id, state, run_id) values ('9', 'gone', 1)`.execute(db)
  await look()
  await look()
  expect(told).toEqual(['raised channel=9'])

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
  isTaken = false
  await look()
  isTaken = true
  await look()
  await look()
  expect(told).toEqual(['raised channel=9', 'raised database'])
  await allow(true)
  await look()
  await look()
  expect(told).toEqual(['raised channel=9', 'raised database', 'cleared database'])
})
