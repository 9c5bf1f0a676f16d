import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allStreams } from '../src/streams/registry.ts'
import type { Connection } from '../src/service/connect.ts'
import type { Stream } from '../src/core/stream.ts'
import { identifyRows } from '../src/sync/extract-unkeyed.ts'
import { itemReader } from '../src/transform/read-item.ts'
import { openContext } from './helpers/connect-client.ts'
import { connectTo } from './helpers/emulated-client.ts'
import { ofFile } from './helpers/of-file.ts'
import type { TestDatabase } from './helpers/postgres.ts'
import { readRowVersions } from './helpers/row-versions.ts'
import { startPipeline } from './helpers/start-pipeline.ts'

interface TableColumn {
  readonly name: string
  readonly isNullable: boolean
}

const pipeline = ofFile(() => startPipeline({ channels: 1, days: 1 }))
let database: TestDatabase
let connection: Connection

beforeAll(async () => {
  database = pipeline.database
  connection = connectTo(pipeline.emulator)
  await pipeline.sync()
  await pipeline.sync({ streams: ['watch_records_v1'] })
})

afterAll(async () => {
  await connection[Symbol.asyncDispose]()
})

/** Page 1 of what the emulator serves, and how its items are read. */
async function readServed(stream: Stream) {
  const { world, channelIds } = pipeline.emulator
  const [channel = ''] = channelIds
  const question = world.channels.get(channel)?.questionnaires.rows[0]?.questionId ?? ''
  const partition = { channel, type: stream.types?.at(-1) ?? '', question }
  const list = { stream, partition }
  const page = await connection.fetchPage({ list, page: 1, pageSize: stream.pageSize }, openContext())
  return { page, read: itemReader(stream, { partition, serviceDay: '2026-11-20' }) }
}

async function readTable(table: string): Promise<readonly TableColumn[]> {
  const { rows } = await sql<TableColumn>`
    select attname as name, not attnotnull as "isNullable"
    from pg_attribute where attrelid = ${`livehouse.${table}`}::regclass and attnum > 0 and not attisdropped
    order by attnum`.execute(database.db)
  return rows
}

describe.each(allStreams.map((stream) => [stream.name, stream] as const))('%s', (_name, stream) => {
  test('every field beside the key may be NULL', async () => {
    const table = await readTable(stream.table)
    const optional = Object.entries(stream.columns).filter(
      ([name, { source }]) => source.kind === 'field' && !stream.key.includes(name),
    )
    for (const [name] of optional) expect(table.find((column) => column.name === name)?.isNullable, name).toBe(true)
  })

  test('the emulator serves it: every item is a row, every field has its place, and every key is its own', async () => {
    const { page, read } = await readServed(stream)
    expect(page.items.length).toBeGreaterThan(0)
    const results = page.items.map((item) => read(item, page))
    const rows = results.flatMap((result) => (result.kind === 'row' ? [result.row] : []))
    expect(results.filter(({ kind }) => kind === 'rejected')).toEqual([])
    expect(rows.filter(({ extra }) => extra !== null)).toEqual([])
    const keyed = stream.identity ? identifyRows(stream, stream.identity, rows, 'Asia/Shanghai') : rows
    expect(new Set(keyed.map((row) => JSON.stringify(stream.key.map((name) => row[name]))))).toHaveProperty(
      'size',
      page.items.length,
    )
  })

  test('reading and loading it again writes nothing', async () => {
    const before = await readRowVersions(database.db)
    await database.db.deleteFrom('livehouse_ops.slices').where('stream', '=', stream.name).execute()
    const result = await pipeline.sync({ streams: [stream.name] })
    expect(result).toMatchObject({ status: 'ok', errors: [] })
    const counts = result.streams[stream.name]?.counts
    expect(counts).toMatchObject({ inserted: 0, updated: 0, removed: 0, degraded: 0, quarantined: 0 })
    expect(counts?.unchanged).toBe(pipeline.emulator.truth()[stream.name]?.length ?? counts?.extracted)
    expect(await readRowVersions(database.db)).toEqual(before)
  })
})
