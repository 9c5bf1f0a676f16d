import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { allStreams } from '../src/streams/registry.ts'
import type { Stream } from '../src/core/stream.ts'
import { identifyRows } from '../src/sync/extract-unkeyed.ts'
import { itemReader } from '../src/transform/read-item.ts'
import { openContext } from './helpers/connect-client.ts'
import { connectTo } from './helpers/emulated-client.ts'
import { ofFile } from './helpers/of-file.ts'
import { readRowVersions } from './helpers/row-versions.ts'
import { startPipeline } from './helpers/start-pipeline.ts'

const pipeline = ofFile(() => startPipeline({ channels: 1, days: 1 }))
const connection = ofFile(async () => connectTo(pipeline.emulator))

beforeAll(async () => {
  await pipeline.sync()
  await pipeline.sync({ streams: ['watch_records_v1'] })
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

describe.each(allStreams.map((stream) => [stream.name, stream] as const))('%s', (_name, stream) => {
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
    const before = await readRowVersions(pipeline.database.db)
    await pipeline.database.db.deleteFrom('livehouse_ops.slices').where('stream', '=', stream.name).execute()
    const result = await pipeline.sync({ streams: [stream.name] })
    expect(result).toMatchObject({ status: 'ok', errors: [] })
    const counts = result.streams[stream.name]?.counts
    expect(counts).toMatchObject({ inserted: 0, updated: 0, removed: 0, degraded: 0, quarantined: 0 })
    expect(counts?.unchanged).toBe(pipeline.emulator.truth()[stream.name]?.length ?? counts?.extracted)
    expect(await readRowVersions(pipeline.database.db)).toEqual(before)
  })
})

test('what is read again each night is as long as docs/jobs.md says', () => {
  const days = allStreams.flatMap(({ name, lookbackDays: each }) => (each > 0 ? [`${name}: ${each}`] : []))
  expect(readFileSync(new URL('../docs/jobs.md', import.meta.url), 'utf8')).toContain(`| \`{ ${days.join(', ')} }\` |`)
})
