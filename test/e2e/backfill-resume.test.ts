import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { formatWallDate, formatWallTime, parseWallTime, wallTimeAt } from '../../src/core/wall-clock.ts'
import { startEmulator } from '../../src/emulator/server.ts'
import { expectTruth } from '../helpers/expect-truth.ts'
import { ofFile } from '../helpers/of-file.ts'
import { createTestDatabase } from '../helpers/postgres.ts'
import { environmentOf } from '../helpers/run-verb.ts'
import { startChild } from '../helpers/start-child.ts'

const DAYS = 31
const database = ofFile(createTestDatabase)
const emulator = ofFile(() => startEmulator({ channels: 12, viewers: 1200, conditions: { latencyMs: 8 } }))

/** Runs the backfill of the last month in a process of its own; SIGTERM when so many of its slices have ended. */
async function backfill(stopAfter: number): Promise<number | null> {
  const today = wallTimeAt(Date.now(), 'Asia/Shanghai')
  const range = ['--from', formatWallDate(today - DAYS * 86_400), '--to', formatWallDate(today + 86_400)]
  const settings = { ...environmentOf(emulator, database), LIVEHOUSE_CONCURRENCY: '1', LOG_LEVEL: 'debug' }
  const child = startChild(['backfill', ...range, '--streams', 'watch_records'], settings)
  let heard = ''
  child.process.stderr?.on('data', (text: string) => {
    heard += text
    if (heard.split('"slice.ended"').length > stopAfter) child.process.kill('SIGTERM')
  })
  return (await child.ended).code
}

test('a month that SIGTERM interrupts again and again is resumed, and no call of a landed slice is repeated', async () => {
  // A process that ends after one slice, one after two, and one that may go on to the end.
  const codes: (number | null)[] = []
  const landedBefore: number[] = []
  const repeated: unknown[] = []
  for (const stopAfter of [1, 2, Infinity]) {
    const { rows } = await sql<{ channel: string; asked: string }>`
      select split_part(partition, '=', 2) as channel, lower(reads)::text as asked from livehouse_ops.slices
      where status = 'landed' and upper(reads) - lower(reads) > interval '1 day'`.execute(database.db)
    // Each request asks for a minute more on both sides. The last minutes are not covered yet, and are read again.
    const startOf = (asked: string) => formatWallTime((parseWallTime(asked) ?? 0) - 60)
    const landed = new Set(rows.map(({ channel, asked }) => `${channel} ${startOf(asked)}`))
    landedBefore.push(landed.size)
    const before = emulator.calls.length
    codes.push(await backfill(stopAfter))
    const calls = emulator.calls.slice(before)
    repeated.push(...calls.filter(({ channelId, params }) => landed.has(`${channelId} ${String(params.start_time)}`)))
  }
  expect(codes).toEqual([143, 143, 0])
  expect(landedBefore.map((count) => count > 0)).toEqual([false, true, true])
  expect(repeated).toEqual([])
  await expectTruth({ emulator, database }, ['watch_records'])
})
