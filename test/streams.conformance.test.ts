import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { allStreams } from '../src/streams/registry.ts'
import { identifyRows } from '../src/sync/extract-unkeyed.ts'
import { itemReader } from '../src/transform/read-item.ts'
import { connectClient, openContext } from './helpers/connect-client.ts'
import { startEmulatedService } from './helpers/emulated-service.ts'
import { firstRows } from './helpers/first-rows.ts'
import { ofFile } from './helpers/of-file.ts'

const service = ofFile(() => startEmulatedService({ channels: 1, days: 1 }))
const reserve = async () => ({ scope: '', serviceDay: '', resumesAt: '', spendDay: async () => {} })
const connection = ofFile(async () => {
  const { baseUrl, apiToken } = service.emulator
  return connectClient(baseUrl, { apiToken, reserve })
})

test.each(allStreams)('each item of $name becomes a row with all its fields and a unique key', async (stream) => {
  const { questionId: question } = firstRows(service.emulator).form
  const partition = { channel: service.channelId, type: stream.types?.at(-1) ?? '', question }
  const request = { list: { stream, partition }, page: 1, pageSize: stream.pageSize }
  const page = await connection.fetchPage(request, openContext())
  expect(page.items.length).toBeGreaterThan(0)
  const read = itemReader(stream, { partition, serviceDay: '2026-11-20' })
  const results = page.items.map((item) => read(item, page))
  const rows = results.flatMap((result) => (result.kind === 'row' ? [result.row] : []))
  expect(results.filter(({ kind }) => kind === 'rejected')).toEqual([])
  expect(rows.filter(({ extra }) => extra !== null)).toEqual([])
  const keyed = stream.identity ? identifyRows(stream, stream.identity, rows, 'Asia/Shanghai') : rows
  expect(new Set(keyed.map((row) => JSON.stringify(stream.key.map((name) => row[name])))).size).toBe(page.items.length)
})

test('docs/jobs.md has the lookback of each stream', () => {
  const days = allStreams.flatMap(({ name, lookbackDays: each }) => (each > 0 ? [`${name}: ${each}`] : []))
  expect(readFileSync(new URL('../docs/jobs.md', import.meta.url), 'utf8')).toContain(`| \`{ ${days.join(', ')} }\` |`)
})
